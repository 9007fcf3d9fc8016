// The matrices that the calls of a trace work on: the same memory for all calls, as large as the largest.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "check/guarded_array.h"
#include "check/inputs.h"
#include "replay/trace.h"
#include "runtime/executor.h"

namespace duogemm::bench {

// How the device finds the members of a batch that is not strided.
BatchBy lists_on(const DeviceInfo& info);

// The tables of a call whose batch is by lists; none for others.
class ListTables {
 public:
  ListTables(const TraceCall& call, const PreparedPlan::Operands& matrices, Device& device, Queue& queue);
  // The matrices with these tables.
  PreparedPlan::Operands with(const PreparedPlan::Operands& matrices) const;

 private:
  std::array<std::unique_ptr<Buffer>, 3> tables_;
};

// The elements of A, B and C that the calls reach.
struct Extents {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
};
Extents extents_of(const Trace& trace);

class TraceOperands {
 public:
  TraceOperands(const Trace& trace, Device& device, Queue& queue);

  // Of one of the trace's different calls.
  const PreparedPlan::Operands& of(std::size_t call) const { return operands_[call]; }
  // C as it was in the beginning.
  void restore_c(Queue& queue) { c_.restore(queue); }

 private:
  GuardedArray a_, b_, c_;
  std::vector<ListTables> tables_;
  std::vector<PreparedPlan::Operands> operands_;
};

// Throws out_of_memory when a device, or the host where it works on plain arrays, has not enough for the
// operands and for as much again as libraries may need besides.
void require_memory(const Trace& trace, const DeviceInfo& device, CallMemory through);

}  // namespace duogemm::bench
