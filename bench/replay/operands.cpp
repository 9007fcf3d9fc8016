#include "replay/operands.h"

#include <algorithm>
#include <fstream>
#include <limits>

#include "support/table.h"

namespace duogemm::bench {
namespace {

constexpr double headroom = 0.9;  // of the memory that there is

std::unique_ptr<Buffer> make_table(const Buffer& matrices, std::int64_t stride, std::int64_t batch,
                                   BatchBy by, Device& device, Queue& queue) {
  std::vector<std::int64_t> entries;
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto address = static_cast<std::int64_t>(matrices.native());
    entries.push_back(by == BatchBy::offsets
                          ? i * stride
                          : address + static_cast<std::int64_t>(sizeof(float)) * i * stride);
  }
  const std::size_t bytes = sizeof(std::int64_t) * entries.size();
  auto table = device.allocate(bytes);
  queue.write(*table, entries.data(), bytes);
  return table;
}

std::size_t array_bytes(const Extents& extents, const DeviceInfo& info) {
  return GuardedArray::bytes(extents.a, 1, info) + GuardedArray::bytes(extents.b, 1, info) +
         GuardedArray::bytes(extents.c, 1, info);
}

// What the host could give away without swapping.
std::size_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string name; file >> name;) {
    if (std::size_t kilobytes = 0; name == "MemAvailable:" && file >> kilobytes) {
      return kilobytes * 1024;
    }
  }
  return std::numeric_limits<std::size_t>::max();
}

std::string gigabytes(double bytes) { return format("%.2f GB", 1e-9 * bytes); }

}  // namespace

BatchBy lists_on(const DeviceInfo& info) {
  return info.backend == "opencl" ? BatchBy::offsets : BatchBy::addresses;
}

ListTables::ListTables(const TraceCall& call, const PreparedPlan::Operands& matrices, Device& device,
                       Queue& queue) {
  if (call.batch == CallBatch::strides) {
    return;
  }
  const Problem& p = call.problem;
  const std::int64_t strides[] = {p.a_stride, p.b_stride, p.c_stride};
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    tables_[i] = make_table(*matrices[i].buffer, strides[i], p.batch, lists_on(device.info()), device, queue);
  }
}

PreparedPlan::Operands ListTables::with(const PreparedPlan::Operands& matrices) const {
  PreparedPlan::Operands all = matrices;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    all[static_cast<std::size_t>(table_a.slot) + i] = {tables_[i].get()};
  }
  return all;
}

Extents extents_of(const Trace& trace) {
  Extents most{1, 1, 1};
  for (const TraceCall& call : trace.calls) {
    most.a = std::max(most.a, call.problem.a_extent());
    most.b = std::max(most.b, call.problem.b_extent());
    most.c = std::max(most.c, call.problem.c_extent());
  }
  return most;
}

TraceOperands::TraceOperands(const Trace& trace, Device& device, Queue& queue)
    : a_(extents_of(trace).a, test_data().a.content(), 1, 1, device, queue),
      b_(extents_of(trace).b, test_data().b.content(), 1, 2, device, queue),
      c_(extents_of(trace).c, test_data().c.content(), 1, 3, device, queue) {
  const PreparedPlan::Operands matrices{{{a_.array(0)}, {b_.array(0)}, {c_.array(0)}}};
  for (const TraceCall& call : trace.calls) {
    operands_.push_back(tables_.emplace_back(call, matrices, device, queue).with(matrices));
  }
}

void require_memory(const Trace& trace, const DeviceInfo& device, CallMemory through) {
  const Extents extents = extents_of(trace);
  const double operands = static_cast<double>(array_bytes(extents, device));
  const bool host = through == CallMemory::host;
  // A call on plain arrays may copy them to staging memory, and from there into a buffer.
  const double needed = operands * (host && device.kind == DeviceKind::cpu ? 4 : host ? 3 : 2);
  double present = static_cast<double>(device.memory_bytes);
  if (host || device.kind == DeviceKind::cpu) {
    present = std::min(present, static_cast<double>(available_host_bytes()));
  }
  if (needed > headroom * present) {
    throw Error(Status::out_of_memory, trace.name + " may need " + gigabytes(needed) +
                                           " of memory, of which " + gigabytes(operands) +
                                           " for its matrices; there are " + gigabytes(headroom * present));
  }
  const auto longest = static_cast<double>(
      std::max({GuardedArray::bytes(extents.a, 1, device), GuardedArray::bytes(extents.b, 1, device),
                GuardedArray::bytes(extents.c, 1, device)}));
  if (longest > static_cast<double>(device.max_allocation_bytes)) {
    throw Error(Status::out_of_memory, trace.name + " needs " + gigabytes(longest) +
                                           " at a stretch; the device gives " +
                                           gigabytes(static_cast<double>(device.max_allocation_bytes)));
  }
}

}  // namespace duogemm::bench
