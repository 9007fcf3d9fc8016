#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <sstream>

#include "device/assumed_device.h"
#include "opencl_backend.h"
#include "opencl_device.h"
#include "pocl.h"
#include "system/cores.h"
#include "system/shared_library.h"

namespace duogemm::opencl {
namespace {

// cl_nv_device_attribute_query (Khronos registry), of which Debian's headers may lack some names.
constexpr cl_device_info nv_compute_capability_major = 0x4000;
constexpr cl_device_info nv_compute_capability_minor = 0x4001;

bool has_extension(const cl::Device& device, const std::string& name) {
  std::istringstream extensions(device.getInfo<CL_DEVICE_EXTENSIONS>());
  return std::find(std::istream_iterator<std::string>(extensions), {}, name) !=
         std::istream_iterator<std::string>();
}

cl_uint query(const cl::Device& device, cl_device_info name) {
  cl_uint value = 0;
  return clGetDeviceInfo(device(), name, sizeof value, &value, nullptr) == CL_SUCCESS ? value : 0;
}

// cl_khr_pci_bus_info; empty where the device does not have it.
std::string pci_bus(const cl::Device& device) {
  cl_device_pci_bus_info_khr place{};
  if (clGetDeviceInfo(device(), CL_DEVICE_PCI_BUS_INFO_KHR, sizeof place, &place, nullptr) != CL_SUCCESS) {
    return {};
  }
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", place.pci_domain, place.pci_bus, place.pci_device,
                place.pci_function);
  return text;
}

DeviceKind kind_of(cl_device_type type) {
  return type & CL_DEVICE_TYPE_GPU   ? DeviceKind::gpu
         : type & CL_DEVICE_TYPE_CPU ? DeviceKind::cpu
                                     : DeviceKind::other;
}

// OpenCL tells the size of one cache only. A device that is a CPU is this one.
void describe_core(const cl::Device& device, DeviceInfo& info) {
  info.vector_floats = device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>();
  info.seconds_to_start = 30e-6;  // measured with PoCL 3.1 on two AVX-512 cores (Zen 4 and 5)
  info.core_cache_bytes = cache_bytes(2);
}

// Fine-grained system SVM is OpenCL's word for it. PoCL (3.1 to 7.1) has it on CPUs and does not say so: it
// gives kernels whatever address it was told, copies nothing and keeps no record. CL_MEM_USE_HOST_PTR would
// not do: each new buffer costs a command of its own there, and buffers that overlap are undefined.
bool works_on_host_memory(const cl::Device& device, const DeviceInfo& info) {
  cl_device_svm_capabilities capabilities = 0;
  clGetDeviceInfo(device(), CL_DEVICE_SVM_CAPABILITIES, sizeof capabilities, &capabilities, nullptr);
  const bool promised = (capabilities & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) != 0;
  // The library that passes calls on may know only OpenCL 1.2.
  const auto is_passed_on = [] {
    return clSetKernelArgSVMPointer(nullptr, 0, nullptr) != CL_INVALID_OPERATION;
  };
  return info.kind == DeviceKind::cpu && (promised || (is_pocl(info) && capabilities != 0)) && is_passed_on();
}

// OpenCL has no limit. NVIDIA's devices have, and past it their driver is slow: 100000 work-groups in the
// second dimension took an H100 twice as long as 50000 that do as much.
Extent max_groups(const DeviceInfo& info) {
  constexpr std::size_t any = std::numeric_limits<std::uint32_t>::max();
  return info.is_nvidia() ? nvidia_max_groups : Extent{any, any, any};
}

// Answers whether OpenCL's functions may be called: the library that has them may be missing.
bool has_loader() {
  constexpr const char* delayed = DUOGEMM_DELAYED_OPENCL;
  static const bool found = *delayed == '\0' || SharedLibrary({delayed}).is_open();
  return found;
}

std::vector<cl::Platform> find_platforms() {
  std::vector<cl::Platform> platforms;
  if (!has_loader()) {
    return platforms;
  }
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error&) {
    return {};  // CL_PLATFORM_NOT_FOUND_KHR: the loader is there, no driver is
  }
  return platforms;
}

std::vector<cl::Device> devices_of(const cl::Platform& platform) {
  std::vector<cl::Device> devices;
  try {
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
  } catch (const cl::Error&) {
    return {};  // CL_DEVICE_NOT_FOUND
  }
  std::erase_if(devices, [](const cl::Device& each) { return !each.getInfo<CL_DEVICE_AVAILABLE>(); });
  return devices;
}

// cl_loader_info of the Khronos registry, which has no header. Khronos's loader and ocl-icd have it.
std::string loader_version() {
  constexpr cl_uint version = 2;
  constexpr cl_uint name = 3;
  using GetLoaderInfo = cl_int (*)(cl_uint, std::size_t, void*, std::size_t*);
  const auto get_info =
      reinterpret_cast<GetLoaderInfo>(clGetExtensionFunctionAddress("clGetICDLoaderInfoOCLICD"));
  const auto info = [&](cl_uint what) {
    char text[256] = "";
    const bool told = get_info != nullptr && get_info(what, sizeof text, text, nullptr) == CL_SUCCESS;
    return std::string(told ? text : "unknown");
  };
  return info(name) + " " + info(version);
}

// Tells the versions of the headers, the ICD loader, and each platform.
Versions find_versions() {
  Versions versions = {{"OpenCL headers", DUOGEMM_OPENCL_HEADERS},
                       {"OpenCL loader", has_loader() ? loader_version() : "none"}};
  const std::vector<cl::Platform> platforms = find_platforms();
  for (const cl::Platform& platform : platforms) {
    versions.emplace_back("OpenCL platform", platform.getInfo<CL_PLATFORM_NAME>() + ", " +
                                                 platform.getInfo<CL_PLATFORM_VERSION>());
  }
  if (platforms.empty()) {
    versions.emplace_back("OpenCL platform", "none: no driver is found");
  }
  return versions;
}

// Tells why a platform has no device; empty where each has some, and where there is none.
std::string find_obstacle() {
  if (!has_loader()) {
    return "there is no " DUOGEMM_DELAYED_OPENCL "; a GPU's driver brings it";
  }
  for (const cl::Platform& platform : find_platforms()) {
    const std::string name = platform.getInfo<CL_PLATFORM_NAME>();
    if (devices_of(platform).empty()) {
      const std::string why = name == pocl_platform ? pocl_cache_obstacle() : "";
      return why.empty() ? "the OpenCL platform " + name + " is installed and has none" : why;
    }
  }
  return {};
}

}  // namespace

std::vector<cl::Device> find_devices() {
  std::vector<cl::Device> found;
  for (const cl::Platform& platform : find_platforms()) {
    const std::vector<cl::Device> devices = devices_of(platform);
    found.insert(found.end(), devices.begin(), devices.end());
  }
  return found;
}

DeviceInfo describe(const cl::Device& device, std::size_t index) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  DeviceInfo info;
  info.backend = "opencl";
  info.index = index;
  info.kind = kind_of(device.getInfo<CL_DEVICE_TYPE>());
  info.name = device.getInfo<CL_DEVICE_NAME>();
  info.vendor = device.getInfo<CL_DEVICE_VENDOR>();
  info.platform = platform.getInfo<CL_PLATFORM_NAME>();
  info.platform_version = platform.getInfo<CL_PLATFORM_VERSION>();
  info.driver = device.getInfo<CL_DRIVER_VERSION>();
  info.runtime = device.getInfo<CL_DEVICE_VERSION>();
  info.compute_units = device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>();
  info.clock_mhz = device.getInfo<CL_DEVICE_MAX_CLOCK_FREQUENCY>();
  info.memory_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.max_allocation_bytes = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.cache_bytes = device.getInfo<CL_DEVICE_GLOBAL_MEM_CACHE_SIZE>();
  info.local_bytes = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  if (info.kind == DeviceKind::cpu) {
    describe_core(device, info);
  }
  info.max_work_group = std::min(device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>(),
                                 device.getInfo<CL_DEVICE_MAX_WORK_ITEM_SIZES>().at(0));
  info.slice_alignment = device.getInfo<CL_DEVICE_MEM_BASE_ADDR_ALIGN>() / 8;
  if (has_extension(device, "cl_nv_device_attribute_query")) {
    info.compute_capability = static_cast<int>(10 * query(device, nv_compute_capability_major) +
                                               query(device, nv_compute_capability_minor));
  }
  info.max_groups = max_groups(info);
  // NVIDIA's drivers say 48 KiB, and refuse a larger argument, but take larger arrays that a kernel declares.
  info.dynamic_local_bytes =
      info.is_nvidia() ? dynamic_local_bytes(info.compute_capability) : info.local_bytes;
  info.unit_items = info.is_nvidia() ? unit_items(info.compute_capability) : 0;
  info.host_memory = works_on_host_memory(device, info);
  info.pci_bus = pci_bus(device);
  info.read_only_loads = info.compute_capability >= 35;
  info.shuffle = info.compute_capability >= 30 || has_extension(device, "cl_khr_subgroup_shuffle");
  info.denormals = (device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>() & CL_FP_DENORM) != 0;
  assume(info);
  return info;
}

namespace {

class OpenClBackend final : public Backend {
 public:
  std::string_view name() const override { return "opencl"; }

  std::vector<DeviceInfo> devices() const override {
    return on_driver_stack([] {
      std::vector<DeviceInfo> infos;
      for (const cl::Device& device : find_devices()) {
        infos.push_back(describe(device, infos.size()));
      }
      return infos;
    });
  }

  Versions versions() const override { return on_driver_stack(find_versions); }
  std::string obstacle() const override { return on_driver_stack(find_obstacle); }

  std::unique_ptr<Device> open(std::size_t index, const DeviceOptions& options) const override {
    if (options.cache != CachePreference::none || options.banks != BankWidth::standard) {
      throw Error(Status::unsupported, "OpenCL has no cache preference and no bank width; only cuda has");
    }
    return on_driver_stack([&] {
      const std::vector<cl::Device> devices = find_devices();
      if (index >= devices.size()) {
        throw Error(Status::invalid_argument, "no OpenCL device " + std::to_string(index) + "; there are " +
                                                  std::to_string(devices.size()));
      }
      const cl::Device& device = devices[index];
      const DeviceInfo info = describe(device, index);
      const cl::Context context(device);
      if (is_pocl(info)) {
        keep_threads_apart(context, device, info.compute_units);
      }
      return open_device(device, info, context, options.explain);
    });
  }
};

}  // namespace
}  // namespace duogemm::opencl

const duogemm::Backend& duogemm::opencl_backend() {
  static const opencl::OpenClBackend backend;
  return backend;
}
