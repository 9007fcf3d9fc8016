#include "system/cores.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "system/told_in_files.h"

namespace duogemm {
namespace {

namespace fs = std::filesystem;

// Answers what follows "NAME : " on the first line of the file that begins so.
std::string told_in(const fs::path& path, const std::string& name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (const std::size_t colon = line.find(": "); line.starts_with(name) && colon != std::string::npos) {
      return line.substr(std::min(line.find_first_not_of(' ', colon + 1), line.size()));
    }
  }
  return {};
}

std::string cpuinfo(const std::string& name) { return told_in("/proc/cpuinfo", name); }

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

void stay_on_core(int core) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(core, &own);
  sched_setaffinity(0, sizeof own, &own);
}

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

std::optional<std::size_t> free_memory_bytes(const fs::path& root) {
  const std::optional<std::size_t> number = leading_number(told_in(root / "proc/meminfo", "MemAvailable:"));
  return number ? std::optional(*number << 10) : std::nullopt;
}

}  // namespace duogemm
