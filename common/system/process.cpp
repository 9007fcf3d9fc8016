#include "system/process.h"

#include <atomic>

#include "duogemm/error.h"
#include "system/this_process.h"

namespace duogemm {
namespace {

std::atomic<bool> uses_devices = false;
std::atomic<bool> is_child_of_user = false;
std::atomic<int> forks_before = 0;

std::mutex forking;

// As soon as the library is loaded: whatever thread is the first to ask, no fork is missed.
[[maybe_unused]] const bool told_of_forks = [] {
  call_around_forks([] { forking.lock(); }, [] { forking.unlock(); },
                    [] {
                      is_child_of_user = uses_devices || is_child_of_user;
                      ++forks_before;
                      forking.unlock();
                    });
  return true;
}();

}  // namespace

// To ask the system for the process each time would take a tenth of a microsecond.
bool devices_work_here() {
  if (!uses_devices.load(std::memory_order_relaxed)) {
    uses_devices = true;
  }
  return !is_child_of_user;
}

int forks() { return forks_before.load(std::memory_order_relaxed); }

std::unique_lock<std::mutex> hold_off_forks() { return std::unique_lock(forking); }

void require_devices_work_here() {
  if (!devices_work_here()) {
    throw Error(
        Status::unsupported,
        "this process was forked from one that had used a device; start it anew instead of forking it");
  }
}

}  // namespace duogemm
