// The facts of a device that are known before anything runs on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace duogemm {

using Extent = std::array<std::size_t, 3>;

enum class DeviceKind { gpu, cpu, other };

using Defines = std::vector<std::pair<std::string, int>>;

// A kernel that was compiled with the library, with a value for each of its tunables.
struct BuiltProgram {
  std::string kernel;
  Defines tunables;
  void (*entry)();  // its backend knows how to call it
};

struct DeviceInfo {
  std::string backend;    // "opencl", "cuda" or "cpu"; of the laboratory also "webgpu"
  std::size_t index = 0;  // among the devices of its backend
  DeviceKind kind = DeviceKind::other;
  std::string name;
  std::string vendor;
  std::string platform;           // the OpenCL platform; "CUDA" otherwise
  std::string platform_version;   // OpenCL's only; some say which compiler they have
  std::string driver;             // driver version
  std::string runtime;            // version of the language or toolkit, with the compiler's where it has one
  std::string pci_bus;            // "0000:3b:00.0"; empty when unknown
  int compute_capability = 0;     // 90 for 9.0; 0 when it is not NVIDIA's
  std::size_t compute_units = 0;  // 0 when unknown
  std::size_t clock_mhz = 0;      // the highest; 0 when unknown
  std::size_t memory_bytes = 0;   // 0 when unknown
  std::size_t max_allocation_bytes = 0;
  std::size_t memory_bandwidth = 0;  // bytes per second, as its clock and width have it; 0 when unknown
  std::size_t cache_bytes = 0;       // of the largest cache before the memory, as far as the runtime knows it
  std::size_t local_bytes = 0;       // local memory per work-group
  // The same for a kernel that asks for more than every device has (dynamic shared memory).
  std::size_t dynamic_local_bytes = 0;
  std::size_t unit_items = 0;  // work-items for which a GPU's compute unit has room; 0 when unknown
  // A CPU has these: the floats of a vector register, and a core's largest cache of its own; 0 when unknown.
  std::size_t vector_floats = 0;
  std::size_t core_cache_bytes = 0;
  // A CPU's threads begin to compute what is launched, and the caller hears of the end, after this time.
  double seconds_to_start = 0.0;
  std::size_t max_work_group = 0;
  std::size_t slice_alignment = 1;  // of Buffer::slice, in bytes
  Extent max_groups{};              // work-groups per dimension
  bool read_only_loads = false;     // has a read-only data path that USE_LDG selects
  bool shuffle = false;             // work-items of a sub-group can exchange values
  bool denormals = true;            // are numbers like others, as IEEE 754 has them
  bool promises_fma = true;         // fma rounds once, as in OpenCL and CUDA; WebGPU leaves it open
  bool dependent_launch =
      false;                 // kernels that await what was launched before by themselves are started early
  bool host_memory = false;  // kernels work on the host's memory in place (Device::wrap)
  bool compiles_concurrently = false;  // programs of one process
  bool clusters = false;               // work-groups of a cluster can read each other's local memory
  bool barriers = true;                // work-items of a work-group can wait for each other
  bool ladder_only = false;            // the library does not multiply on it
  // All of the library's own that it can run, where those are compiled with the library. They live as long as
  // the process.
  const std::vector<BuiltProgram>* programs = nullptr;

  bool is_nvidia() const { return compute_capability != 0; }

  bool operator==(const DeviceInfo&) const = default;
};

// DeviceInfo::dynamic_local_bytes of an NVIDIA device that cannot be asked ("Technical Specifications per
// Compute Capability" in the CUDA C++ Programming Guide).
inline std::size_t dynamic_local_bytes(int compute_capability) {
  const std::size_t kib = compute_capability >= 120  ? 99
                          : compute_capability >= 90 ? 227
                          : compute_capability == 80 ? 163
                          : compute_capability == 87 ? 163
                          : compute_capability > 80  ? 99
                                                     : 48;
  return kib * 1024;
}

// DeviceInfo::unit_items of an NVIDIA device, from the same table.
inline std::size_t unit_items(int compute_capability) {
  const bool fewer = compute_capability > 80 && compute_capability != 90 && compute_capability / 10 != 10;
  return compute_capability == 75 ? 1024 : fewer ? 1536 : 2048;
}

// Multiply-adds that a compute unit of an NVIDIA device, or most others, does in a cycle ("Arithmetic
// Instructions" in the same guide).
inline double lanes_of_unit(int compute_capability) {
  return compute_capability == 60 || (compute_capability >= 70 && compute_capability <= 80) ? 64.0 : 128.0;
}

// DeviceInfo::max_groups of an NVIDIA device that cannot be asked, from the same table.
inline constexpr Extent nvidia_max_groups = {0x7fffffff, 65535, 65535};

}  // namespace duogemm
