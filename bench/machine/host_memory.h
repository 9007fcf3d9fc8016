// How much of the machine's own memory this process may still take.
#pragma once

#include <cstddef>
#include <filesystem>

namespace duogemm::bench {

// What Linux could give without swapping, within the limits of the control groups (v1 or v2) that the process
// is in. Where nothing can be read, more than anybody has. root: where /proc and /sys are looked for.
std::size_t available_host_memory(const std::filesystem::path& root = "/");

}  // namespace duogemm::bench
