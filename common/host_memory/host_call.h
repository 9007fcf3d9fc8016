// The call on host memory, on an open device: in place where the device works on the host's memory, else by
// way of copies on the device. Several threads may call at once.
#pragma once

#include <memory>
#include <optional>

#include "host_memory/stream.h"

namespace duogemm {

class HostCall {
 public:
  virtual ~HostCall() = default;
  // Returns when C is complete. `problem` is not empty.
  virtual void multiply(const Problem& problem, const HostOperands& operands,
                        const ProgressListener& progress) = 0;
};

// `runtime` must outlive the result. device_memory: the limit that was asked for, in bytes. Work in place
// knows none.
std::unique_ptr<HostCall> make_host_call(Runtime& runtime, std::optional<std::size_t> device_memory);

// The two of them.
std::unique_ptr<HostCall> multiply_in_place(Runtime& runtime);
std::unique_ptr<HostCall> multiply_copies(Runtime& runtime, std::optional<std::size_t> device_memory,
                                          const CopyOptions& options = {});

}  // namespace duogemm
