// Peculiarities of PoCL, which compiles for CPUs and keeps what it compiles in a folder of its own. Without
// such a folder it has no device, and it ends the process, or takes a broken program for a good one, when
// something is wrong with what is in it.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "device/device_info.h"
#include "opencl_api.h"

namespace duogemm::opencl {

inline constexpr const char* pocl_platform = "Portable Computing Language";

inline bool is_pocl(const DeviceInfo& info) { return info.platform == pocl_platform; }

// Answers its folder; empty where no variable says where that is.
std::filesystem::path pocl_cache_directory();

// Answers how many kernels are in it; 0 where it is not found.
std::size_t kernels_kept_by_pocl();

// Throws build_failed, which names the folder, where it has no room for a program.
void require_room_in_pocl_cache();

// Tells why PoCL cannot begin; empty where the folder can be written.
std::string pocl_cache_obstacle();

// Says what to do about the folder, for the end of a message: "...; remove PoCL's cache, FOLDER, or ...".
std::string pocl_cache_remedy();

// Held while PoCL computes, whoever's context it is. When commands of several queues start at the same time,
// PoCL 3.1 rarely miscounts who uses the code of a kernel, and an assertion ends the process.
std::unique_lock<std::mutex> exclusive_use_of_pocl();

// Gives each of the threads that carry out work-groups a core to itself, once per process and device, where
// there are as many cores for the process as threads. Linux may wake several of them on one core and leave
// them there for the time of a small product, which then takes twice as long. Where the user has said
// something by POCL_AFFINITY, and for other devices, nothing happens.
void keep_threads_apart(const cl::Context& context, const cl::Device& device, std::size_t threads);

}  // namespace duogemm::opencl
