// The matrices that the calls of a trace work on: the same memory for all calls, as large as the largest.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "check/guarded_operands.h"
#include "replay/trace.h"
#include "runtime/executor.h"

namespace duogemm::bench {

// A call as a library on the device takes it, with its operands. The tables of a batch by lists are its own.
class ReadyCall {
 public:
  ReadyCall(const TraceCall& call, const PreparedPlan::Operands& matrices, Device& device, Queue& queue);
  const Problem& problem() const { return problem_; }
  const PreparedPlan::Operands& operands() const { return operands_; }

 private:
  Problem problem_;
  PreparedPlan::Operands operands_;
  std::array<std::unique_ptr<Buffer>, 3> tables_;
};

class TraceOperands {
 public:
  TraceOperands(const Trace& trace, Device& device, Queue& queue);

  // One of the trace's different calls.
  const ReadyCall& call(std::size_t which) const { return calls_[which]; }
  // C as it was in the beginning.
  void restore_c(Queue& queue) { matrices_.restore_c(queue); }

 private:
  GuardedOperands matrices_;
  std::vector<ReadyCall> calls_;
};

// Throws out_of_memory when a device, or the host where it works on plain arrays, has not enough for the
// operands and for as much again as libraries may need besides.
void require_memory(const Trace& trace, const DeviceInfo& device, CallMemory through);

}  // namespace duogemm::bench
