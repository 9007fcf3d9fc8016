// One CUDA device with its primary context: buffers, streams and modules.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "backend.h"
#include "driver.h"

namespace duogemm::cuda {

// The device's primary context, shared with the CUDA runtime and with cuBLAS, retained while this lives.
class PrimaryContext {
 public:
  explicit PrimaryContext(CUdevice device);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  CUcontext get() const { return context_; }

 private:
  CUdevice device_;
  CUcontext context_ = nullptr;
};

using SharedContext = std::shared_ptr<const PrimaryContext>;

// Makes the context current for a scope, and puts back what the caller had.
class CurrentContext {
 public:
  explicit CurrentContext(const SharedContext& context);
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(CUdevice device, DeviceInfo info, const DeviceOptions& options);
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override;
  std::unique_ptr<Queue> create_queue() override;
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override;

 private:
  DeviceInfo info_;
  DeviceOptions options_;
  SharedContext context_;
};

// The kernel as nvcc compiled it with its standard tunables; empty when there is none. Defined by the build.
std::span<const unsigned char> embedded_fatbin(std::string_view entry);

}  // namespace duogemm::cuda
