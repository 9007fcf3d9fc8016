#include "cuda_backend.h"

#include "cuda_device.h"
#include "device/assumed_device.h"
#include "nvrtc_compile.h"

namespace duogemm {
namespace cuda {
namespace {

std::size_t attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  DUOGEMM_CUDA(cuDeviceGetAttribute(&value, which, device));
  return static_cast<std::size_t>(value);
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string driver_version() {
  int version = 0;
  DUOGEMM_CUDA(cuDriverGetVersion(&version));
  return version_text(version);
}

}  // namespace

std::string toolkit_version() {
  return "CUDA toolkit " + version_text(CUDA_VERSION) + ", NVRTC " + nvrtc_version();
}

Versions versions() {
  return {
      {"CUDA toolkit", version_text(CUDA_VERSION)},
      {"NVRTC", nvrtc_version()},
      {"CUDA driver", driver() != nullptr ? "for CUDA " + driver_version() : "none: " + driver_absence()}};
}

DeviceInfo describe(CUdevice device, std::size_t index) {
  DeviceInfo info;
  info.backend = "cuda";
  info.index = index;
  info.kind = DeviceKind::gpu;
  info.vendor = "NVIDIA Corporation";
  info.platform = "CUDA";
  char text[256] = "";
  DUOGEMM_CUDA(cuDeviceGetName(text, sizeof text, device));
  info.name = text;
  DUOGEMM_CUDA(cuDeviceGetPCIBusId(text, sizeof text, device));
  info.pci_bus = text;
  info.driver = "CUDA " + driver_version();
  info.runtime = toolkit_version();
  info.compute_capability =
      static_cast<int>(10 * attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                       attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  info.compute_units = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.clock_mhz = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
  DUOGEMM_CUDA(cuDeviceTotalMem(&info.memory_bytes, device));
  info.max_allocation_bytes = info.memory_bytes;
  info.compiles_concurrently = true;
  // Twice in each cycle, of so many kHz, as many bits.
  info.memory_bandwidth = 2 * 1000 * attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                          attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
  info.cache_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  info.local_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  info.dynamic_local_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  info.unit_items = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  info.max_work_group = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  info.slice_alignment = 256;  // what cuMemAlloc aligns to
  info.max_groups = {attribute(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                     attribute(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                     attribute(device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
  info.read_only_loads = info.compute_capability >= 35;
  info.shuffle = info.compute_capability >= 30;
#if CUDA_VERSION >= 12030
  info.dependent_launch = info.compute_capability >= 90 && driver()->cuLaunchKernelEx != nullptr;
  info.clusters = info.dependent_launch && attribute(device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0;
#endif
  assume(info);
  return info;
}

std::size_t device_count() {
  int count = 0;
  if (driver() == nullptr || driver()->cuDeviceGetCount(&count) != CUDA_SUCCESS) {
    return 0;
  }
  return static_cast<std::size_t>(count);
}

CUdevice device_at(std::size_t index) {
  CUdevice device = 0;
  DUOGEMM_CUDA(cuDeviceGet(&device, static_cast<int>(index)));
  return device;
}

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
  // Every capability that the toolkit knows has at least these.
  info.memory_bytes = gigabyte;
  info.max_allocation_bytes = gigabyte;
  info.local_bytes = 48 * 1024;
  info.dynamic_local_bytes = dynamic_local_bytes(compute_capability);
  info.unit_items = unit_items(compute_capability);
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

// A device that is not there: its compiler alone (see Backend::absent).
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
    return open_device(std::make_shared<DeviceContext>(device), describe(device, index), options);
  }

  std::unique_ptr<Device> absent(int compute_capability) const override {
    if (const int oldest = oldest_capability(); compute_capability < oldest) {
      throw Error(Status::invalid_argument, "compute capability " + std::to_string(compute_capability) +
                                                ": this CUDA toolkit compiles for " + std::to_string(oldest) +
                                                " and newer");
    }
    return std::make_unique<AbsentDevice>(compute_capability);
  }
};

}  // namespace
}  // namespace cuda

const Backend& cuda_backend() {
  static const cuda::CudaBackend backend;
  return backend;
}

}  // namespace duogemm
