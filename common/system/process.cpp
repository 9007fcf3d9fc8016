#include "system/process.h"

#include <pthread.h>

#include <atomic>

#include "duogemm/error.h"

namespace duogemm {
namespace {

std::atomic<bool> uses_devices = false;
std::atomic<bool> is_child_of_user = false;

// As soon as the library is loaded: whatever thread is the first to ask, no fork is missed.
[[maybe_unused]] const int told_of_forks =
    pthread_atfork(nullptr, nullptr, [] { is_child_of_user = uses_devices || is_child_of_user; });

}  // namespace

// To ask the system for the process each time would take a tenth of a microsecond.
bool devices_work_here() {
  if (!uses_devices.load(std::memory_order_relaxed)) {
    uses_devices = true;
  }
  return !is_child_of_user;
}

void require_devices_work_here() {
  if (!devices_work_here()) {
    throw Error(
        Status::unsupported,
        "this process was forked from one that had used a device; start it anew instead of forking it");
  }
}

}  // namespace duogemm
