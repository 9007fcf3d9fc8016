// Where PoCL keeps what it compiles. It has no device without such a folder, and ends the process, or takes a
// broken program for a good one, when something is wrong with what is in it.
#pragma once

#include <string>

namespace duogemm::opencl {

// Throws build_failed, which names the folder, where it has no room for a program.
void require_room_in_pocl_cache();

// Why PoCL cannot begin; empty where the folder can be written.
std::string pocl_cache_obstacle();

// What to do about the folder, for the end of a message: "...; remove PoCL's cache, FOLDER, or ...".
std::string pocl_cache_remedy();

}  // namespace duogemm::opencl
