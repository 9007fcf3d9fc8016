// Devices and fork(2).
#pragma once

#include <mutex>

namespace duogemm {

// Answers whether devices with drivers work in this process: not in one that was forked after this was asked.
// There drivers answer errors at best, and wait forever for threads that are not there at worst. Ask before
// anything that a thread may hold while another one forks, such as the guard of a function's static variable:
// in the child nobody releases it.
bool devices_work_here();

// Throws unsupported unless devices work here.
void require_devices_work_here();

// Answers how many forks lie between this process and the one that loaded the library: what has changed since
// something was made tells that its threads, and whoever held its locks, are in another process.
int forks();

// While the result lives, other threads' forks wait: for work that holds locks of the whole process, which
// nobody would release in the child. No driver may be asked meanwhile, as it may fork by itself.
std::unique_lock<std::mutex> hold_off_forks();

}  // namespace duogemm
