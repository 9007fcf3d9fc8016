// Looks at a GPU while others measure.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "machine/nvml.h"

namespace duogemm::bench {

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
