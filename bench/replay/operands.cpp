#include "replay/operands.h"

#include "machine/memory_need.h"
#include "support/format.h"

namespace duogemm::bench {
namespace {

// As large as the largest of the calls, and never empty: a call may come without one of the operands.
Extents extents_of(const Trace& trace) {
  Extents extents{1, 1, 1};
  for (const TraceCall& call : trace.calls) {
    extents = larger(extents, Extents::of(call.problem));
  }
  return extents;
}

// Entries are offsets or addresses, as the device finds the members of a batch that is not strided.
std::unique_ptr<Buffer> make_table(const Buffer& matrices, std::int64_t stride, const Problem& problem,
                                   Device& device, Queue& queue) {
  std::vector<std::int64_t> entries;
  for (std::int64_t i = 0; i < problem.batch; ++i) {
    const auto address = static_cast<std::int64_t>(matrices.native());
    entries.push_back(problem.batch_by == BatchBy::offsets
                          ? i * stride
                          : address + static_cast<std::int64_t>(sizeof(float)) * i * stride);
  }
  const std::size_t bytes = sizeof(std::int64_t) * entries.size();
  auto table = device.allocate(bytes);
  queue.write(*table, entries.data(), bytes);
  return table;
}

}  // namespace

ReadyCall::ReadyCall(const TraceCall& call, const PreparedPlan::Operands& matrices, Device& device,
                     Queue& queue)
    : problem_(call.problem), operands_(matrices) {
  if (call.batch == CallBatch::strides) {
    return;
  }
  problem_.batch_by = device.info().backend == "opencl" ? BatchBy::offsets : BatchBy::addresses;
  const std::int64_t strides[] = {problem_.a_stride, problem_.b_stride, problem_.c_stride};
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    tables_[i] = make_table(*matrices[i].buffer, strides[i], problem_, device, queue);
    operands_[static_cast<std::size_t>(table_a.slot) + i] = {tables_[i].get()};
  }
}

TraceOperands::TraceOperands(const Trace& trace, Device& device, Queue& queue)
    : matrices_(extents_of(trace), test_data().c, 1, device, queue) {
  for (const TraceCall& call : trace.calls) {
    calls_.emplace_back(call, matrices_.operands(), device, queue);
  }
}

void require_memory(const Trace& trace, const DeviceInfo& device, CallMemory through) {
  const auto [total, largest] = operand_bytes(extents_of(trace), 1, device);
  MemoryNeed need{.device = static_cast<double>(total), .largest = static_cast<double>(largest)};
  if (through == CallMemory::host) {
    // A call on plain arrays may copy them to staging memory, and from there into a buffer.
    need = {.host = need.device * (device.kind == DeviceKind::cpu ? 4 : 3)};
  } else {
    need.device *= 2;
  }
  require_memory(trace.name, need, device);
}

}  // namespace duogemm::bench
