// What the system tells of the processor, and how much of it this process may use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace duogemm {

// The cores on which the system lets the process run; none where it does not tell.
std::vector<int> cores_of_process();

// The core that the calling thread runs on; below 0 where the system does not tell.
int current_core();

// Has the calling thread run on this core alone. Where that fails, it stays as it is.
void stay_on_core(int core);

// Has the calling thread go on on another core, if it is on this one and may run on others.
void leave_core(int core);

// Calls `look` with the folder of each control group that the process is in for a controller ("memory"), and
// with those around it, as a group is limited by these, too; `version` is that of control groups, 1 or 2. In
// a container a group's path may be one that only the outside has: then its folders are not there, and the
// first, which is, is the container's. `root`: the folder in which the system's files are.
void for_each_control_group(
    const std::filesystem::path& root, const std::string& controller,
    const std::function<void(const std::filesystem::path& folder, int version)>& look);

// Answers how many threads the process should have at work: as many as there are cores for it and as its
// control groups grant it, or as the environment variable OMP_NUM_THREADS says where that is fewer.
// DUOGEMM_THREADS goes before all of them; throws invalid_argument where that is no number from 1 to 1024.
// `root`: see for_each_control_group.
std::size_t threads_of_process(const std::filesystem::path& root = "/");

// "AMD EPYC 9B14"; the kind of processor where the system does not tell more.
std::string processor_name();
// The highest of the first core; 0 where the system does not tell.
std::size_t processor_mhz();

// Bytes of the cache of a level, 1 to 3, that a core reads data from; 0 where the system does not tell.
std::size_t cache_bytes(int level);

// Threads that ran or waited for a core, over the last minute; 0 where the system does not tell.
double load_average();

std::size_t host_memory_bytes();
// That nobody uses; nothing where the system does not tell. `root`: see for_each_control_group.
std::optional<std::size_t> free_memory_bytes(const std::filesystem::path& root);

}  // namespace duogemm
