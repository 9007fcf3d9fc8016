// What NVIDIA's management library says of a GPU. The library comes with the driver and is loaded when it is
// first used.
#pragma once

#include <optional>
#include <string>

namespace duogemm::bench {

struct GpuState {
  std::string driver;  // "580.159.04"
  unsigned sm_mhz = 0;
  unsigned memory_mhz = 0;
  unsigned temperature_c = 0;
  double power_w = 0.0;
  std::string slowed_by;  // what keeps its clock down: "power", "temperature"; empty when nothing does
};

// Empty where the library or the GPU is not there. pci_bus: DeviceInfo::pci_bus.
std::optional<GpuState> query_gpu(const std::string& pci_bus);

}  // namespace duogemm::bench
