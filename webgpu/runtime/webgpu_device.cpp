#include "runtime/webgpu_device.h"

#include <algorithm>

#include "families/kernel_source.h"
#include "runtime/webgpu_queue.h"

namespace duogemm::webgpu {
namespace {

class WebGpuDevice final : public Device {
 public:
  WebGpuDevice(api::Adapter adapter, const DeviceInfo& info, bool explains)
      : gpu_(adapter), info_(info), explains_(explains) {
    api::AdapterInfo about{};
    wgpu().AdapterGetInfo(adapter, &about);
    sub_group_size_ = std::max(about.subgroupMinSize, std::uint32_t{1});
    wgpu().AdapterInfoFreeMembers(about);
  }

  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<WebGpuBuffer>(gpu_, bytes);
  }
  std::unique_ptr<Queue> create_queue() override { return std::make_unique<WebGpuQueue>(gpu_); }
  std::string build_options(const ProgramSource& source) const override {
    return to_text(Tunables(source.defines.begin(), source.defines.end()));
  }
  // wgpu-native itself takes a shader with more local memory than there is.
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    Shader shader = translate(source.text, Tunables(source.defines.begin(), source.defines.end()));
    if (shader.local_bytes > info_.local_bytes) {
      throw Error(Status::unsupported, std::to_string(shader.local_bytes) +
                                           " bytes of local memory; the device has " +
                                           std::to_string(info_.local_bytes));
    }
    return std::make_shared<WebGpuKernel>(gpu_, std::move(shader), sub_group_size_, explains_);
  }
  std::shared_ptr<const Kernel> load(const std::string& entry, const std::string&) override {
    throw Error(Status::build_failed, entry + ": WebGPU keeps no programs");
  }

 private:
  Gpu gpu_;
  const DeviceInfo info_;
  const bool explains_;
  std::size_t sub_group_size_;
};

}  // namespace

std::unique_ptr<Device> open_device(api::Adapter adapter, const DeviceInfo& info, bool explains) {
  return std::make_unique<WebGpuDevice>(adapter, info, explains);
}

}  // namespace duogemm::webgpu
