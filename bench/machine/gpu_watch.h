// Asks NVIDIA's management library for the state of a GPU, once or while others measure. The library comes
// with the driver and is loaded when it is first used.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

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

struct GpuMoment {
  double seconds;  // since the watch began
  GpuState state;
};

class GpuWatch {
 public:
  // pci_bus: DeviceInfo::pci_bus. Where NVIDIA's management library does not know the GPU, nothing is seen.
  explicit GpuWatch(std::string pci_bus) : pci_bus_(std::move(pci_bus)) {}

  // Calls `work`, and looks ten times a second from its beginning to its end.
  void during(const std::function<void()>& work);
  const std::vector<GpuMoment>& moments() const { return moments_; }

 private:
  bool look();

  std::string pci_bus_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<GpuMoment> moments_;
};

}  // namespace duogemm::bench
