// The call on host memory, on an open device: in place where the device works on the host's memory, else by
// way of copies on the device. Several threads may call at once.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "duogemm/sgemm.hpp"
#include "host_memory/stream_plan.h"
#include "runtime/runtime.h"

namespace duogemm {

class HostCall {
 public:
  virtual ~HostCall() = default;
  // Returns when C is complete. `problem` is not empty.
  virtual void multiply(const Problem& problem, const HostOperands& operands,
                        const ProgressListener& progress) = 0;
};

// Copies are made so.
struct CopyOptions {
  std::int64_t piece_floats = 1 << 20;  // of staging memory, which a thread fills while others are copied
  // Products that copy fewer bytes are left to the calling thread alone: to start others takes as long.
  std::uint64_t bytes_for_threads = 8 << 20;
  std::size_t threads = 0;  // 0: as many as the machine is good for
};

// `runtime` must outlive the result. device_memory: the limit, in bytes, which work in place does not know.
std::unique_ptr<HostCall> make_host_call(Runtime& runtime, std::optional<std::size_t> device_memory);

// The one of the two that copies.
std::unique_ptr<HostCall> multiply_copies(Runtime& runtime, std::optional<std::size_t> device_memory,
                                          const CopyOptions& options = {});

// Things that one thread at a time uses, made when none is idle and kept for the next.
template <typename Thing>
class Pool {
 public:
  // An idle thing, or null.
  std::unique_ptr<Thing> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      return nullptr;
    }
    std::unique_ptr<Thing> thing = std::move(idle_.back());
    idle_.pop_back();
    return thing;
  }

  void give_back(std::unique_ptr<Thing> thing) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(thing));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thing>> idle_;
};

}  // namespace duogemm
