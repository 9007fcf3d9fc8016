#include "runtime/driver_trial.h"

#include "families/kernel_source.h"
#include "runtime/known_product.h"
#include "system/log.h"

namespace duogemm {
namespace {

constexpr std::int64_t size = 200;  // no multiple of tiles

bool is_doubtful(const DeviceInfo& info) {
  return info.backend == "opencl" && !info.is_nvidia() && kernels_are_embedded();
}

bool multiplies(Runtime& runtime) {
  const bool right =
      gives_known_product(size, runtime.device(), [&](Queue& queue, const PreparedPlan::Operands& operands) {
        runtime.enqueue(Problem::packed(size, size, size), queue, operands);
      });
  log_line(runtime.device().info().name + (right ? " multiplies right" : " gives wrong results"));
  return right;
}

// Also where it is not known, as when DUOGEMM_FORCE has a kernel that does not compute this product.
bool is_right(Runtime& runtime) {
  const DiskCache disk(cache_directory());
  const std::string key = "a known product\n" + key_of(runtime.device().info());
  if (disk.load(key)) {
    return true;
  }
  try {
    if (!multiplies(runtime)) {
      return false;
    }
    disk.store(key, "right");
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) {
      throw;
    }
  }
  return true;
}

}  // namespace

void DriverTrial::require_right(Runtime& runtime) {
  std::call_once(once_, [&] {
    const DeviceInfo& info = runtime.device().info();
    if (is_doubtful(info) && !is_right(runtime)) {
      refusal_ =
          info.name + " through the OpenCL driver " + info.platform + " " + info.driver +
          " gives wrong results, as a product that is known shows; choose another device (DUOGEMM_DEVICE) "
          "or driver";
    }
  });
  if (!refusal_.empty()) {
    throw Error(Status::unsupported, refusal_);
  }
}

}  // namespace duogemm
