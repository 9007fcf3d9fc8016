#include "cuda_devices.h"

#include "nvrtc_compile.h"

namespace duogemm::cuda {
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
  info.cache_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  info.local_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  info.dynamic_local_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
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

}  // namespace duogemm::cuda
