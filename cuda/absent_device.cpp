#include "absent_device.h"

#include "cuda_devices.h"
#include "nvrtc_compile.h"

namespace duogemm::cuda {
namespace {

DeviceInfo describe_absent(int compute_capability) {
  constexpr std::size_t gigabyte = 1000000000;
  DeviceInfo info;
  info.backend = "cuda";
  info.kind = DeviceKind::gpu;
  info.name = "sm_" + std::to_string(compute_capability);
  info.vendor = "NVIDIA Corporation";
  info.platform = "CUDA";
  info.driver = "none";
  info.runtime = toolkit_version();
  info.compute_capability = compute_capability;
  // What every capability that the toolkit knows has at least.
  info.memory_bytes = gigabyte;
  info.max_allocation_bytes = gigabyte;
  info.local_bytes = 48 * 1024;
  info.dynamic_local_bytes = dynamic_local_bytes(compute_capability);
  info.max_work_group = 1024;
  info.max_groups = nvidia_max_groups;
  info.read_only_loads = compute_capability >= 35;
  info.shuffle = compute_capability >= 30;
  return info;
}

class AbsentKernel final : public Kernel {
 public:
  explicit AbsentKernel(KernelFacts texts) : texts_(std::move(texts)) {}
  std::size_t sub_group_size(const Extent&) const override { return 32; }
  std::string binary() const override { return {}; }
  KernelFacts facts(const Extent&) const override { return texts_; }

 private:
  KernelFacts texts_;
};

class AbsentDevice final : public Device {
 public:
  explicit AbsentDevice(int compute_capability) : info_(describe_absent(compute_capability)) {}
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t) override { refuse(); }
  std::unique_ptr<Queue> create_queue() override { refuse(); }
  std::string build_options(const ProgramSource& source) const override {
    return nvrtc_option_text(source, info_.compute_capability);
  }
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    return std::make_shared<AbsentKernel>(
        texts_of(compile_with_nvrtc(source, info_.compute_capability, true)));
  }
  std::shared_ptr<const Kernel> load(const std::string&, const std::string&) override { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    throw Error(Status::unsupported, info_.name + ": there is no such device here, only its compiler");
  }
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> absent_device(int compute_capability) {
  if (const int oldest = oldest_capability(); compute_capability < oldest) {
    throw Error(Status::invalid_argument, "compute capability " + std::to_string(compute_capability) +
                                              ": this CUDA toolkit compiles for " + std::to_string(oldest) +
                                              " and newer");
  }
  return std::make_unique<AbsentDevice>(compute_capability);
}

}  // namespace duogemm::cuda
