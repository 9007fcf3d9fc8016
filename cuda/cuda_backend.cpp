#include "cuda_backend.h"

#include "absent_device.h"
#include "cuda_device.h"
#include "cuda_devices.h"

namespace duogemm {
namespace cuda {
namespace {

void require_bank_width(BankWidth banks) {
  if (CUDA_VERSION >= 13000 && banks != BankWidth::standard) {
    throw Error(Status::unsupported, "CUDA 13 no longer has a choice of bank width; toolkits before it do");
  }
}

class CudaBackend final : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }

  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> infos;
    for (std::size_t i = 0; i < device_count(); ++i) {
      infos.push_back(describe(device_at(i), i));
    }
    return infos;
  }

  Versions versions() const override { return cuda::versions(); }

  std::unique_ptr<Device> open(std::size_t index, const DeviceOptions& options) const override {
    require_bank_width(options.banks);
    if (index >= device_count()) {
      throw Error(Status::invalid_argument, "no CUDA device " + std::to_string(index) + "; there are " +
                                                std::to_string(device_count()));
    }
    const CUdevice device = device_at(index);
    return std::make_unique<CudaDevice>(std::make_shared<DeviceContext>(device), describe(device, index),
                                        options);
  }

  std::unique_ptr<Device> absent(int compute_capability) const override {
    return absent_device(compute_capability);
  }
};

}  // namespace
}  // namespace cuda

const Backend& cuda_backend() {
  static const cuda::CudaBackend backend;
  return backend;
}

}  // namespace duogemm
