#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "machine/memory_need.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

// The files that tell of a group's memory, which differ between the two versions of control groups.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // a word of memory.stat: what files were read into, which is given up when needed
};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file"};

// The number that follows a word; nothing when there is no such file, word or number ("max").
std::optional<std::size_t> number_after(const fs::path& path, const std::string& word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string first;
    std::size_t number = 0;
    if (fields >> first && first == word && fields >> number) {
      return number;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::size_t available_in_group(const fs::path& folder, const GroupFiles& files) {
  const std::optional<std::size_t> limit = number_in(folder / files.limit);
  const std::optional<std::size_t> usage = number_in(folder / files.usage);
  if (!limit || !usage) {
    return unlimited;
  }
  const std::size_t reclaimable = number_after(folder / "memory.stat", files.reclaimable).value_or(0);
  const std::size_t used = *usage - std::min(*usage, reclaimable);
  return *limit - std::min(*limit, used);
}

// A group is limited by those above it, too. In a container its path may be one that only the outside has:
// then those folders are not there, and the first, which is, is the container's.
std::size_t available_in_groups(const fs::path& mount, const std::string& path, const GroupFiles& files) {
  fs::path folder = mount;
  std::size_t least = available_in_group(folder, files);
  for (const fs::path& name : fs::path(path).relative_path()) {
    folder /= name;
    least = std::min(least, available_in_group(folder, files));
  }
  return least;
}

}  // namespace

std::size_t available_host_memory(const fs::path& root) {
  constexpr std::size_t kibibyte = 1024;
  const std::optional<std::size_t> kibibytes = number_after(root / "proc/meminfo", "MemAvailable:");
  std::size_t available = kibibytes ? *kibibytes * kibibyte : unlimited;
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "4:cpu,memory:/path", or "0::/path" in version 2
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    std::string controllers = ",";
    controllers.append(line, first + 1, second - first - 1).append(",");
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      available = std::min(available, available_in_groups(mount, path, version_2));
    } else if (controllers.find(",memory,") != std::string::npos) {
      available = std::min(available, available_in_groups(mount / "memory", path, version_1));
    }
  }
  return available;
}

}  // namespace duogemm::bench
