// A caller of the OpenCL entry points.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "duogemm/opencl.hpp"
#include "opencl_api.h"
#include "opencl_device.h"

namespace duogemm::testing {

// A caller who has nothing to do with duogemm's own contexts and queues.
struct OpenClCaller {
  explicit OpenClCaller(const cl::Device& device, cl_command_queue_properties properties = 0)
      : context(device), queue(context, device, properties) {}
  ~OpenClCaller() { opencl::release(context()); }
  OpenClCaller(const OpenClCaller&) = delete;
  OpenClCaller& operator=(const OpenClCaller&) = delete;

  template <typename T>
  cl::Buffer buffer(const std::vector<T>& from) const {
    cl::Buffer made(context, CL_MEM_READ_WRITE, sizeof(T) * from.size());
    queue.enqueueWriteBuffer(made, CL_TRUE, 0, sizeof(T) * from.size(), from.data());
    return made;
  }

  template <typename T>
  void read(const cl::Buffer& from, std::vector<T>& to) const {
    queue.enqueueReadBuffer(from, CL_TRUE, 0, sizeof(T) * to.size(), to.data());
  }

  cl::Context context;
  cl::CommandQueue queue;
};

// For each OpenCL device; skipped where there is none.
class OpenClDeviceTest : public ::testing::TestWithParam<std::size_t> {
 public:
  static std::size_t count() { return std::max<std::size_t>(opencl::find_devices().size(), 1); }

 protected:
  void SetUp() override {
    const std::vector<cl::Device> devices = opencl::find_devices();
    if (GetParam() >= devices.size()) {
      GTEST_SKIP() << "no opencl device was found";
    }
    device_ = devices[GetParam()];
  }

  cl::Device device_;
};

}  // namespace duogemm::testing
