#include "system/cores.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "system/reject.h"

namespace duogemm {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_threads = 1024;

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// The number with which a text begins, if it is above 0: "200000 100000", or "32K".
std::optional<std::size_t> leading_number(const std::string& text) {
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && number > 0 ? std::optional(number) : std::nullopt;
}

// Answers what follows "NAME : " on the first line of /proc/cpuinfo that begins so.
std::string cpuinfo(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (const std::size_t colon = line.find(": "); line.starts_with(name) && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return {};
}

// How many cores' time a control group of version 2 grants, or of version 1: "max 100000", and a quota of -1,
// grant all.
std::size_t granted_by_group(const fs::path& folder) {
  std::string limit = first_line(folder / "cpu.max");
  if (limit.empty()) {
    limit = first_line(folder / "cpu.cfs_quota_us") + " " + first_line(folder / "cpu.cfs_period_us");
  }
  const std::optional<std::size_t> quota = leading_number(limit);
  const std::optional<std::size_t> period = leading_number(limit.substr(limit.find(' ') + 1));
  return quota && period ? std::max<std::size_t>((*quota + *period - 1) / *period, 1) : most_threads;
}

}  // namespace

std::vector<int> cores_of_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) {
        cores.push_back(core);
      }
    }
  }
  return cores;
}

int current_core() { return sched_getcpu(); }

void leave_core(int core) {
  cpu_set_t allowed;
  if (core < 0 || core >= CPU_SETSIZE || sched_getcpu() != core ||
      sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return;
  }
  cpu_set_t others = allowed;
  CPU_CLR(core, &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0) {
    sched_setaffinity(0, sizeof allowed, &allowed);
  }
}

void for_each_control_group(const fs::path& root, const std::string& controller,
                            const std::function<void(const fs::path& folder, int version)>& look) {
  const std::string wanted = std::string(",").append(controller).append(",");
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/path", or "0::/path" in version 2
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    std::string controllers = ",";
    controllers.append(line, first + 1, second - first - 1).append(",");
    const int version = controllers == ",," ? 2 : 1;
    fs::path folder = root / "sys/fs/cgroup";
    if (version == 1) {
      if (controllers.find(wanted) == std::string::npos) {
        continue;
      }
      folder /= controller;
    }
    look(folder, version);
    for (const fs::path& name : fs::path(line.substr(second + 1)).relative_path()) {
      folder /= name;
      look(folder, version);
    }
  }
}

std::size_t threads_of_process(const fs::path& root) {
  constexpr const char* variable = "DUOGEMM_THREADS";
  if (const char* own = std::getenv(variable); own != nullptr && *own != '\0') {
    const std::string text = own;
    const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
    const std::optional<std::size_t> asked = leading_number(text);
    if (!digits || !asked || *asked > most_threads) {
      reject(std::string(variable) + " '" + text + "': expected a number of threads from 1 to 1024");
    }
    return *asked;
  }
  std::size_t threads = cores_of_process().size();
  if (threads == 0) {  // more cores than the set has room for
    threads = std::max(std::thread::hardware_concurrency(), 1u);
  }
  for_each_control_group(root, "cpu", [&](const fs::path& folder, int) {
    threads = std::min(threads, granted_by_group(folder));
  });
  const char* const of_openmp = std::getenv("OMP_NUM_THREADS");  // "4", or "4,2" for threads within threads
  return std::min(threads, leading_number(of_openmp == nullptr ? "" : of_openmp).value_or(threads));
}

std::string processor_name() {
  for (const char* name : {"model name", "cpu model", "Processor", "cpu\t"}) {
    if (std::string found = cpuinfo(name); !found.empty()) {
      return found;
    }
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "CPU";
}

std::size_t processor_mhz() {
  const fs::path highest = "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq";
  if (const std::optional<std::size_t> kilohertz = leading_number(first_line(highest))) {
    return *kilohertz / 1000;
  }
  return leading_number(cpuinfo("cpu MHz")).value_or(0);
}

std::size_t cache_bytes([[maybe_unused]] int level) {
#ifdef _SC_LEVEL1_DCACHE_SIZE  // glibc's
  constexpr int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  if (const long bytes = sysconf(names[level - 1]); bytes > 0) {
    return static_cast<std::size_t>(bytes);
  }
#endif
  const fs::path caches = "/sys/devices/system/cpu/cpu0/cache";
  for (int i = 0; i < 8; ++i) {
    const fs::path cache = caches / ("index" + std::to_string(i));
    if (first_line(cache / "level") == std::to_string(level) && first_line(cache / "type") != "Instruction") {
      return leading_number(first_line(cache / "size")).value_or(0) << 10;  // "32K"
    }
  }
  return 0;
}

std::size_t host_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes) : 0;
}

}  // namespace duogemm
