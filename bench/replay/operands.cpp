#include "replay/operands.h"

#include <algorithm>

#include "check/inputs.h"
#include "machine/memory_need.h"
#include "support/format.h"

namespace duogemm::bench {
namespace {

// Answers the elements of A, B and C that the calls reach.
std::array<std::int64_t, 3> extents_of(const Trace& trace) {
  std::array<std::int64_t, 3> most = {1, 1, 1};
  for (const auto& [problem, memory, batch] : trace.calls) {
    const std::int64_t extents[] = {problem.a_extent(), problem.b_extent(), problem.c_extent()};
    for (std::size_t i = 0; i < most.size(); ++i) {
      most[i] = std::max(most[i], extents[i]);
    }
  }
  return most;
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

TraceOperands::TraceOperands(const Trace& trace, Device& device, Queue& queue) {
  const std::array<std::int64_t, 3> extents = extents_of(trace);
  const Sequence* numbers[] = {&test_data().a, &test_data().b, &test_data().c};
  PreparedPlan::Operands matrices;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    arrays_.emplace_back(extents[i], numbers[i]->content(), 1, static_cast<std::uint32_t>(i + 1), device,
                         queue);
    matrices[i] = {arrays_.back().array(0)};
  }
  for (const TraceCall& call : trace.calls) {
    calls_.emplace_back(call, matrices, device, queue);
  }
}

void require_memory(const Trace& trace, const DeviceInfo& device, CallMemory through) {
  MemoryNeed need;
  for (const std::int64_t extent : extents_of(trace)) {
    need.add_buffer(static_cast<double>(GuardedArray::bytes(extent, 1, device)));
  }
  if (through == CallMemory::host) {
    // A call on plain arrays may copy them to staging memory, and from there into a buffer.
    need = {.host = need.device * (device.kind == DeviceKind::cpu ? 4 : 3)};
  } else {
    need.device *= 2;
  }
  require_memory(trace.name, need, device);
}

}  // namespace duogemm::bench
