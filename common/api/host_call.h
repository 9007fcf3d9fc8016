// The call on host memory, on an open device: in place where the device works on the host's memory, else by
// way of copies on the device. Several threads may call at once.
#pragma once

#include <memory>

#include "runtime/runtime.h"

namespace duogemm {

// The operands of a call, column-major. Of those that the problem does not read nothing is looked at.
struct HostOperands {
  // The first matrix of each: the members of the batch are a stride apart (BatchBy::strides).
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  // Where each member of the batch is (BatchBy::addresses).
  const float* const* a_list = nullptr;
  const float* const* b_list = nullptr;
  float* const* c_list = nullptr;
};

class HostCall {
 public:
  virtual ~HostCall() = default;
  // Returns when C is complete. `problem` is not empty.
  virtual void multiply(const Problem& problem, const HostOperands& operands) = 0;
};

// `runtime` must outlive the result.
std::unique_ptr<HostCall> make_host_call(Runtime& runtime);

// The two of them.
std::unique_ptr<HostCall> multiply_in_place(Runtime& runtime);
std::unique_ptr<HostCall> multiply_copies(Runtime& runtime);

}  // namespace duogemm
