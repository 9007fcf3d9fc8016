#include "runtime/webgpu_backend.h"

#include <algorithm>

#include "runtime/gpu.h"
#include "runtime/webgpu_device.h"
#include "system/cores.h"

namespace duogemm::webgpu {
namespace {

DeviceKind kind_of(api::AdapterType type) {
  return type == api::AdapterType::CPU ? DeviceKind::cpu
         : type == api::AdapterType::DiscreteGPU || type == api::AdapterType::IntegratedGPU
             ? DeviceKind::gpu
             : DeviceKind::other;
}

// Those of Vulkan. They are asked for once, and stay.
const std::vector<api::Adapter>& adapters() {
  static const std::vector<api::Adapter> found = [] {
    std::vector<api::Adapter> all;
    if (wgpu_library().version.empty()) {
      return all;
    }
    api::InstanceExtras extras{};
    extras.chain.sType = api::SType::InstanceExtras;
    extras.backends = api::InstanceBackend_Vulkan;
    const api::InstanceDescriptor wanted{&extras.chain, 0, nullptr, nullptr};
    const api::Instance instance = wgpu().CreateInstance(&wanted);
    const api::InstanceEnumerateAdapterOptions options{nullptr, api::InstanceBackend_Vulkan};
    all.resize(wgpu().InstanceEnumerateAdapters(instance, &options, nullptr));
    wgpu().InstanceEnumerateAdapters(instance, &options, all.data());
    return all;
  }();
  return found;
}

// WebGPU tells neither how many compute units a device has, nor its clock, its caches and how much memory.
DeviceInfo describe(api::Adapter adapter, std::size_t index) {
  api::AdapterInfo about{};
  wgpu().AdapterGetInfo(adapter, &about);
  api::Limits limits{};
  wgpu().AdapterGetLimits(adapter, &limits);
  DeviceInfo info;
  info.backend = "webgpu";
  info.index = index;
  info.kind = kind_of(about.adapterType);
  info.name = text_of(about.device);
  info.vendor = text_of(about.vendor);
  info.platform = "Vulkan";
  info.driver = text_of(about.description);
  info.runtime = "WebGPU (Vulkan) by wgpu-native " + wgpu_library().version;
  if (about.adapterType != api::AdapterType::DiscreteGPU) {
    info.memory_bytes = host_memory_bytes();
  }
  if (info.kind == DeviceKind::cpu) {
    info.compute_units = threads_of_process();
    info.clock_mhz = processor_mhz();
  }
  info.max_allocation_bytes = std::min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
  info.local_bytes = info.dynamic_local_bytes = limits.maxComputeWorkgroupStorageSize;
  info.max_work_group = limits.maxComputeInvocationsPerWorkgroup;
  info.slice_alignment = limits.minStorageBufferOffsetAlignment;
  info.max_groups.fill(limits.maxComputeWorkgroupsPerDimension);
  info.shuffle = wgpu().AdapterHasFeature(adapter, api::FeatureName::Subgroups) != 0;
  info.promises_fma = false;
  info.ladder_only = true;
  wgpu().AdapterInfoFreeMembers(about);
  return info;
}

class WebGpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "webgpu"; }

  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> infos;
    for (const api::Adapter adapter : adapters()) {
      infos.push_back(describe(adapter, infos.size()));
    }
    return infos;
  }

  Versions versions() const override {
    const WgpuLibrary& library = wgpu_library();
    return {{"wgpu-native", library.version.empty() ? "none: " + library.absence : library.version}};
  }

  std::string obstacle() const override {
    const WgpuLibrary& library = wgpu_library();
    return library.version.empty() ? library.absence
                                   : "wgpu-native finds no driver for Vulkan; for a CPU, Debian's package "
                                     "mesa-vulkan-drivers has one";
  }

  std::unique_ptr<Device> open(std::size_t index, const DeviceOptions& options) const override {
    if (options.cache != CachePreference::none || options.banks != BankWidth::standard) {
      throw Error(Status::unsupported, "WebGPU has no cache preference and no bank width; only cuda has");
    }
    const api::Adapter adapter = adapters().at(index);
    return open_device(adapter, describe(adapter, index), options.explain);
  }
};

}  // namespace
}  // namespace duogemm::webgpu

const duogemm::Backend& duogemm::webgpu_backend() {
  static const webgpu::WebGpuBackend backend;
  return backend;
}
