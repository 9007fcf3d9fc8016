#include "machine/memory_need.h"

#include <algorithm>
#include <fstream>
#include <limits>

#include "check/guarded_operands.h"
#include "duogemm/error.h"
#include "support/format.h"
#include "system/cores.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

// The files that tell of a group's memory, which differ between the two versions of control groups.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // a word of memory.stat: what files were read into, which is given up when needed
};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file"};

// The first number of a file, or the one that follows a word; nothing when there is no such file, word or
// number ("max").
std::optional<std::size_t> number_in(const fs::path& path, const std::string& after = "") {
  std::ifstream file(path);
  std::string word;
  while (word != after && file >> word) {
  }
  std::size_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

std::size_t available_in_group(const fs::path& folder, const GroupFiles& files) {
  const std::optional<std::size_t> limit = number_in(folder / files.limit);
  const std::optional<std::size_t> usage = number_in(folder / files.usage);
  if (!limit || !usage) {
    return unlimited;
  }
  const std::size_t reclaimable = number_in(folder / "memory.stat", files.reclaimable).value_or(0);
  const std::size_t used = *usage - std::min(*usage, reclaimable);
  return *limit - std::min(*limit, used);
}

constexpr double usable = 0.9;

// The members of a batch that is not strided lie one after the other, with gaps of less than `batch`
// elements.
Extents extents_of(const Problem& problem) {
  Extents extents = Extents::of(problem);
  if (problem.batch_by == BatchBy::strides) {
    return extents;
  }
  constexpr double endless = 1e17;  // no device has that, and four times as many bytes can be counted
  const auto batch = static_cast<double>(problem.batch);
  for (std::int64_t* each : {&extents.a, &extents.b, &extents.c}) {
    *each = static_cast<std::int64_t>(std::min(batch * (static_cast<double>(*each) + batch), endless));
  }
  return extents;
}

std::string gigabytes(double bytes) { return format("%.2f GB", 1e-9 * bytes); }

std::string kept_free(double bytes) { return gigabytes(bytes) + ", a tenth of which stays free"; }

}  // namespace

std::size_t available_host_memory(const fs::path& root) {
  std::size_t available = free_memory_bytes(root).value_or(unlimited);
  for_each_control_group(root, "memory", [&](const fs::path& folder, int version) {
    available = std::min(available, available_in_group(folder, version == 2 ? version_2 : version_1));
  });
  return available;
}

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

MemoryNeed guarded_need(const Problem& problem, const DeviceInfo& device) {
  const auto [total, largest] = operand_bytes(extents_of(problem), 1, device);
  return {static_cast<double>(total), static_cast<double>(largest),
          static_cast<double>(std::min(GuardedArray::host_bytes(), 2 * largest))};
}

MemoryNeed judged_need(const Problem& problem, const DeviceInfo& device) {
  constexpr double oracle_bytes = 2 * sizeof(double) + sizeof(float);  // for each element of C
  MemoryNeed need = guarded_need(problem, device);
  const Extents extents = extents_of(problem);
  need.host += sizeof(float) * static_cast<double>(extents.a + extents.b + extents.c);
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
  if (device.memory_bytes > 0 && need.device > usable * device_bytes) {
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
