// Which drivers have to show that their results are right, and what follows when they are not.
#include "opencl_device.h"
#include "runtime/disk_cache.h"
#include "runtime/program_cache.h"
#include "system/log.h"

namespace duogemm::opencl {
namespace {

bool is_right(const KnownProduct& product, const DeviceInfo& info) {
  const bool right = product.is_right();
  log_line(product.by + (right ? " multiplies right on " : " gives wrong results on ") + info.name);
  return right;
}

// NVIDIA documents no way to have kernels for tensor cores through OpenCL, and another driver may do without
// those that are used (see compat/). FP32 on NVIDIA's OpenCL is what the library's results are recorded by.
std::string refusal_of_tensor_cores(const KnownProduct& product, const DeviceInfo& info) {
  try {
    return is_right(product, info) ? "" : "wrong results";
  } catch (const Error& error) {
    log_line("no " + product.by + " on " + info.name + ": " + error.what());
    return error.what();
  }
}

// Also where it is not known, as when DUOGEMM_FORCE has a kernel that does not compute this product.
bool is_known_to_be_right(const KnownProduct& product, const DeviceInfo& info) {
  const DiskCache disk(cache_directory());
  const std::string key = "a known product\n" + key_of(info);
  if (disk.load(key)) {
    return true;
  }
  try {
    const bool right = is_right(product, info);
    if (right) {
      disk.store(key, "right");
    }
    return right;
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) {
      throw;
    }
    return true;
  }
}

}  // namespace

// Some drivers give wrong results and no error, as rusticl (Mesa 22.3.6). That one was right is kept on disk
// for this version of the driver and of the library, so that other processes need not compute the product
// again.
std::string ClDevice::refusal(const KnownProduct& product) {
  if (product.on_tensor_cores) {
    return refusal_of_tensor_cores(product, info_);
  }
  if (info_.is_nvidia() || is_known_to_be_right(product, info_)) {
    return {};
  }
  return info_.name + " through the OpenCL driver " + info_.platform + " " + info_.driver +
         " gives wrong results, as a product that is known shows; choose another device (DUOGEMM_DEVICE) or "
         "driver";
}

}  // namespace duogemm::opencl
