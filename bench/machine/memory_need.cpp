#include "machine/memory_need.h"

#include <algorithm>

#include "duogemm/error.h"
#include "support/format.h"

namespace duogemm::bench {
namespace {

constexpr double usable = 0.9;
constexpr double guard_bytes = 2 * 4096;  // both bands of a matrix; where a slice is aligned to less

constexpr double piece_bytes = 1 << 24;  // that GuardedArray looks at, at a time

struct ArrayBytes {
  double a, b, c;
};

// The members of a batch that is not strided lie one after the other, with gaps of less than `batch`
// elements.
double array_bytes(std::int64_t extent, const Problem& problem) {
  const double batch = static_cast<double>(problem.batch);
  const double elements = static_cast<double>(extent);
  return sizeof(float) * (problem.batch_by == BatchBy::strides ? elements : batch * (elements + batch));
}

ArrayBytes bytes_of(const Problem& p) {
  return {array_bytes(p.a_extent(), p), array_bytes(p.b_extent(), p), array_bytes(p.c_extent(), p)};
}

std::string gigabytes(double bytes) { return format("%.2f GB", 1e-9 * bytes); }

std::string kept_free(double bytes) { return gigabytes(bytes) + ", a tenth of which stays free"; }

}  // namespace

void MemoryNeed::add_buffer(double bytes) {
  device += bytes;
  largest = std::max(largest, bytes);
}

void MemoryNeed::add_workspaces(const Plan& plan) {
  for (const std::size_t bytes : plan.workspace_bytes) {
    add_buffer(static_cast<double>(bytes));
  }
}

MemoryNeed& MemoryNeed::operator+=(const MemoryNeed& other) {
  device += other.device;
  largest = std::max(largest, other.largest);
  host += other.host;
  return *this;
}

MemoryNeed larger(const MemoryNeed& a, const MemoryNeed& b) {
  return {std::max(a.device, b.device), std::max(a.largest, b.largest), std::max(a.host, b.host)};
}

MemoryNeed guarded_need(const Problem& problem) {
  const auto [a, b, c] = bytes_of(problem);
  MemoryNeed need;
  for (const double bytes : {a, b, c}) {
    need.add_buffer(bytes + guard_bytes);
  }
  need.host += 2 * std::min(need.largest, piece_bytes);  // what is found there, and what was
  return need;
}

MemoryNeed judged_need(const Problem& problem) {
  const auto [a, b, c] = bytes_of(problem);
  constexpr double oracle_bytes = 2 * sizeof(double) + sizeof(float);  // for each element of C
  MemoryNeed need = guarded_need(problem);
  need.host += a + b + c;
  need.host += oracle_bytes * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
               static_cast<double>(problem.batch);
  return need;
}

std::optional<std::string> lacking_memory(const MemoryNeed& need, const DeviceInfo& device,
                                          std::size_t host_bytes) {
  const double device_bytes = static_cast<double>(device.memory_bytes);
  const double largest = static_cast<double>(device.max_allocation_bytes);
  const double available = static_cast<double>(host_bytes);
  const bool shared = device.kind == DeviceKind::cpu;
  const double host = need.host + (shared ? need.device : 0.0);
  if (need.device > usable * device_bytes) {
    return "needs " + gigabytes(need.device) + " of device memory; " + device.name + " has " +
           kept_free(device_bytes);
  }
  if (need.largest > largest) {
    return "needs " + gigabytes(need.largest) + " of device memory in one buffer; " + device.name +
           " gives up to " + gigabytes(largest);
  }
  if (host > usable * available) {
    return "needs " + gigabytes(host) + " of the machine's memory" +
           (shared ? ", the device's included" : "") + "; it has " + kept_free(available);
  }
  return std::nullopt;
}

void require_memory(const std::string& what, const MemoryNeed& need, const DeviceInfo& device) {
  if (const auto reason = lacking_memory(need, device, available_host_memory())) {
    throw Error(Status::out_of_memory, what + " " + *reason);
  }
}

}  // namespace duogemm::bench
