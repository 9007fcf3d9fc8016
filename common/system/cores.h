// What the system tells of the processor, and how much of it this process may use.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace duogemm {

// The cores on which the system lets the process run; none where it does not tell.
std::vector<int> cores_of_process();

// Answers how many threads the process should have at work: as many as there are cores for it and as its
// control groups grant it, or as the environment variable OMP_NUM_THREADS says where that is fewer.
// DUOGEMM_THREADS goes before all of them; throws invalid_argument where that is no number from 1 to 1024.
// `root`: the folder in which the system's files are.
std::size_t threads_of_process(const std::filesystem::path& root = "/");

// "AMD EPYC 9B14"; the kind of processor where the system does not tell more.
std::string processor_name();
// The highest of the first core; 0 where the system does not tell.
std::size_t processor_mhz();

// Bytes of the cache of a level, 1 to 3, that a core reads data from; 0 where the system does not tell.
std::size_t cache_bytes(int level);

std::size_t host_memory_bytes();

}  // namespace duogemm
