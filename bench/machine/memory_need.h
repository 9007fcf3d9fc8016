// Counts what work allocates, and tells whether the device and the machine have it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "device/device_info.h"
#include "families/plan.h"

namespace duogemm::bench {

// Linux could give this much without swapping, within the limits of the control groups (v1 or v2) that the
// process is in. It is more than anybody has where nothing can be read. root: where /proc and /sys are looked
// for.
std::size_t available_host_memory(const std::filesystem::path& root = "/");

// In bytes; as double, in which no sum overflows.
struct MemoryNeed {
  double device = 0.0;   // on the device, altogether
  double largest = 0.0;  // the largest buffer of that
  double host = 0.0;     // of the machine's own memory besides

  void add_buffer(double bytes);
  void add_workspaces(const Plan& plan);
  MemoryNeed& operator+=(const MemoryNeed& other);
};

// For work that is done one after the other.
MemoryNeed larger(const MemoryNeed& a, const MemoryNeed& b);

// A, B and C of a problem between guard bands (GuardedOperands), with what it takes to look at them.
MemoryNeed guarded_need(const Problem& problem, const DeviceInfo& device);

// The same with the oracles that judge the result, and the numbers that all of it is made of (HostProblem).
MemoryNeed judged_need(const Problem& problem, const DeviceInfo& device);

// Why that is too much; nothing when it is there. A tenth of what is there stays free. A device that is a CPU
// has its memory from the machine.
std::optional<std::string> lacking_memory(const MemoryNeed& need, const DeviceInfo& device,
                                          std::size_t host_bytes);

// Throws out_of_memory with `what` (such as "m=1 n=2 k=3") and the reason.
void require_memory(const std::string& what, const MemoryNeed& need, const DeviceInfo& device);

}  // namespace duogemm::bench
