#include "system/process.h"

#include <unistd.h>

#include "duogemm/error.h"

namespace duogemm {

bool devices_work_here() {
  static const pid_t first = getpid();
  return getpid() == first;
}

void require_devices_work_here() {
  if (!devices_work_here()) {
    throw Error(
        Status::unsupported,
        "this process was forked from one that had used a device; start it anew instead of forking it");
  }
}

}  // namespace duogemm
