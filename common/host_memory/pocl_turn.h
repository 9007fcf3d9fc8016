// One product at a time where PoCL computes.
#pragma once

#include <mutex>

#include "device/device_info.h"

namespace duogemm {

// Held while PoCL computes, whoever's context it is; nothing for other devices. When commands of several
// queues start at the same time, PoCL 3.1 rarely miscounts who uses the code of a kernel, and an assertion
// ends the process.
class PoclTurn {
 public:
  explicit PoclTurn(const DeviceInfo& device) : alone_(at_work_, std::defer_lock) {
    if (device.is_pocl()) {
      alone_.lock();
    }
  }

 private:
  static inline std::mutex at_work_;
  std::unique_lock<std::mutex> alone_;
};

}  // namespace duogemm
