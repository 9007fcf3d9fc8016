#include "system/process.h"

#include <pthread.h>

#include <atomic>

#include "duogemm/error.h"

namespace duogemm {

// To ask the system for the process each time would take a tenth of a microsecond.
bool devices_work_here() {
  static std::atomic<bool> is_child = false;
  static const int told_of_forks = pthread_atfork(nullptr, nullptr, [] { is_child = true; });
  static_cast<void>(told_of_forks);
  return !is_child;
}

void require_devices_work_here() {
  if (!devices_work_here()) {
    throw Error(
        Status::unsupported,
        "this process was forked from one that had used a device; start it anew instead of forking it");
  }
}

}  // namespace duogemm
