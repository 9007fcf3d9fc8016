#include "opencl_backend.h"

#include "opencl_device.h"
#include "opencl_devices.h"
#include "pocl.h"

namespace duogemm {
namespace {

class OpenClBackend final : public Backend {
 public:
  std::string_view name() const override { return "opencl"; }

  std::vector<DeviceInfo> devices() const override {
    return opencl::on_driver_stack([] {
      std::vector<DeviceInfo> infos;
      for (const cl::Device& device : opencl::find_devices()) {
        infos.push_back(opencl::describe(device, infos.size()));
      }
      return infos;
    });
  }

  Versions versions() const override { return opencl::on_driver_stack(opencl::versions); }

  std::string obstacle() const override { return opencl::on_driver_stack(opencl::obstacle); }

  std::string missing_driver() const override { return "an OpenCL driver (pocl-opencl-icd runs on any CPU)"; }

  std::unique_ptr<Device> open(std::size_t index, const DeviceOptions& options) const override {
    if (options.cache != CachePreference::none || options.banks != BankWidth::standard) {
      throw Error(Status::unsupported, "OpenCL has no cache preference and no bank width; only cuda has");
    }
    return opencl::on_driver_stack([&] {
      const std::vector<cl::Device> devices = opencl::find_devices();
      if (index >= devices.size()) {
        throw Error(Status::invalid_argument, "no OpenCL device " + std::to_string(index) + "; there are " +
                                                  std::to_string(devices.size()));
      }
      const cl::Device& device = devices[index];
      const DeviceInfo info = opencl::describe(device, index);
      const cl::Context context(device);
      if (opencl::is_pocl(info)) {
        opencl::keep_threads_apart(context, device, info.compute_units);
      }
      return std::make_unique<opencl::ClDevice>(device, info, context, options.explain);
    });
  }
};

}  // namespace

const Backend& opencl_backend() {
  static const OpenClBackend backend;
  return backend;
}

}  // namespace duogemm
