#include "system/cores.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <thread>

#include "system/reject.h"
#include "system/told_in_files.h"

namespace duogemm {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_threads = 1024;

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

}  // namespace duogemm
