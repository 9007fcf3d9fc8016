// What the system tells of this process: its program, who has started it, and when it forks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace duogemm {

long process_id();

// "python3"
std::string program_name();

// The program's file, absolute; empty where the system does not tell.
std::filesystem::path program_file();

// Answers whether threads still run when a shared library's static objects are destroyed. Windows has ended
// them by then, and who waits for one waits for ever.
bool threads_run_at_exit();

// Zeroed memory that this process and those that are forked from it from now on have in common, until they
// end. Where there is none, or no fork(2), each process has its own.
void* memory_shared_by_forks(std::size_t bytes);

// Has these called before each fork of the process, and after it by the parent and by the child, all by the
// thread that forks. Never where the system has no fork(2).
void call_around_forks(void (*before)(), void (*in_parent)(), void (*in_child)());

}  // namespace duogemm
