// Mistakes that drivers make are planted into the one that is there: some of OpenCL's functions are defined
// here, before those of the loader.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "device/device_selection.h"
#include "duogemm/sgemm.hpp"
#include "files.h"
#include "opencl_device.h"
#include "pocl.h"
#include "refusal.h"
#include "rungs/rungs.h"
#include "runtime/program_cache.h"
#include "system/temporary_directory.h"

namespace {

struct Faults {
  int failing_builds = 0;  // this many from now on
  int builds = 0;          // that were asked for
  bool kernels_are_missing = false;
  bool programs_are_gone = false;  // once only a kernel is left of one, as of Intel's driver
  bool devices_are_missing = false;
  bool launches_nothing = false;
  std::size_t most_items = 0;   // of a work-group, once a kernel is compiled; 0: as many as there are
  bool finishes_badly = false;  // by a status that also stands for a lack of memory
} faults;

// The function that one here hides.
template <typename Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                      void(CL_CALLBACK* notify)(cl_program, void*), void* user) {
  ++faults.builds;
  if (faults.failing_builds > 0) {
    --faults.failing_builds;
    return CL_BUILD_PROGRAM_FAILURE;
  }
  return real(&clBuildProgram, "clBuildProgram")(program, count, devices, options, notify, user);
}

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* status) {
  if (faults.kernels_are_missing) {
    *status = CL_INVALID_KERNEL_NAME;
    return nullptr;
  }
  return real(&clCreateKernel, "clCreateKernel")(program, name, status);
}

cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, std::size_t bytes, void* value,
                       std::size_t* needed) {
  return faults.programs_are_gone && what == CL_KERNEL_PROGRAM
             ? CL_INVALID_PROGRAM
             : real(&clGetKernelInfo, "clGetKernelInfo")(kernel, what, bytes, value, needed);
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                std::size_t bytes, void* value, std::size_t* needed) {
  const cl_int status =
      real(&clGetKernelWorkGroupInfo, "clGetKernelWorkGroupInfo")(kernel, device, what, bytes, value, needed);
  if (faults.most_items != 0 && what == CL_KERNEL_WORK_GROUP_SIZE && value != nullptr) {
    *static_cast<std::size_t*>(value) = faults.most_items;
  }
  return status;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint count, cl_device_id* devices,
                      cl_uint* found) {
  return faults.devices_are_missing
             ? CL_DEVICE_NOT_FOUND
             : real(&clGetDeviceIDs, "clGetDeviceIDs")(platform, type, count, devices, found);
}

cl_int clFinish(cl_command_queue queue) {
  const cl_int status = real(&clFinish, "clFinish")(queue);
  return faults.finishes_badly ? CL_OUT_OF_RESOURCES : status;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                              cl_uint waits, const cl_event* wait_for, cl_event* event) {
  return faults.launches_nothing && event == nullptr
             ? CL_SUCCESS
             : real(&clEnqueueNDRangeKernel, "clEnqueueNDRangeKernel")(queue, kernel, dimensions, offset,
                                                                       global, local, waits, wait_for, event);
}
}

namespace duogemm::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t size = 600;
constexpr Sgemm request{.m = size, .n = size, .k = size, .lda = size, .ldb = size, .ldc = size};

class OpenClDriver : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("DUOGEMM_DEVICE", "opencl", 1);
    setenv("DUOGEMM_CACHE_DIR", cache_.path().c_str(), 1);
    if (opencl::find_devices().empty()) {
      GTEST_SKIP() << "no opencl device was found";
    }
  }
  void TearDown() override { faults = {}; }

  // Answers C, of which every element is `size` then, and was 7 before.
  static std::vector<float> multiply(Context& context) {
    const std::vector<float> a(size * size, 1.0f);
    std::vector<float> c(size * size, 7.0f);
    context.sgemm(request, a.data(), a.data(), c.data());
    return c;
  }

  // The first device, as the library opens it.
  static std::unique_ptr<Device> open() { return find_backend("opencl")->open(0, {}); }

  static std::shared_ptr<const Kernel> compile(Device& device) {
    const KernelSpec& spec = any_kernel("naive");
    return device.compile(program_source(variant_of(spec, resolve(spec, {}))));
  }

  const TemporaryDirectory cache_;
};

// As PoCL does when several processes compile at once.
TEST_F(OpenClDriver, IsAskedOnceMoreWhereItFailsToCompile) {
  const auto device = open();
  if (!opencl::is_pocl(device->info())) {
    GTEST_SKIP() << "the first opencl device is not PoCL's";
  }
  faults = {.failing_builds = 1};
  EXPECT_NE(compile(*device), nullptr);
  EXPECT_EQ(faults.builds, 2);
  faults = {.failing_builds = 2};
  EXPECT_NE(refusal([&] { compile(*device); }, Status::build_failed), "accepted");
  EXPECT_EQ(faults.builds, 2);
  faults = {.kernels_are_missing = true};
  const std::string message = refusal([&] { compile(*device); }, Status::build_failed);
  EXPECT_NE(message.find("naive: clCreateKernel returned -46: "), std::string::npos) << message;
  EXPECT_NE(message.find(opencl::pocl_cache_directory().string()), std::string::npos) << message;
  EXPECT_NE(message.find("POCL_CACHE_DIR"), std::string::npos) << message;
}

TEST_F(OpenClDriver, KeepsTheProgramsOfKernels) {
  faults = {.programs_are_gone = true};
  const cl::Device device = opencl::find_devices().at(0);
  DeviceInfo info = opencl::describe(device, 0);
  info.platform = "some platform";  // PoCL's programs are not asked for
  const auto with_binaries = opencl::open_device(device, info, cl::Context(device), true);
  const std::shared_ptr<const Kernel> kernel = compile(*with_binaries);
  EXPECT_NE(kernel->binary(), "");
  EXPECT_NO_THROW(kernel->facts({}));
}

TEST_F(OpenClDriver, HasItsOwnLimitForACompiledKernel) {
  const auto device = open();
  faults = {.most_items = 16};
  const std::string message = refusal([&] { compile(*device); }, Status::unsupported);
  EXPECT_NE(message.find("at most 16 work-items"), std::string::npos) << message;
  // NVIDIA's answers a number that does not hold.
  const cl::Device same = opencl::find_devices().at(0);
  DeviceInfo info = opencl::describe(same, 0);
  info.compute_capability = 90;
  EXPECT_NO_THROW(compile(*opencl::open_device(same, info, cl::Context(same), false)));
}

TEST_F(OpenClDriver, WithoutDevicesIsAskedWhy) {
  faults = {.devices_are_missing = true};
  const auto select = [] { select_device("opencl"); };
  EXPECT_NE(refusal(select).find("is installed and has none"), std::string::npos);
  setenv("POCL_CACHE_DIR", "/dev/null/cache", 1);
  const std::string message = refusal(select);
  EXPECT_NE(message.find("PoCL's cache (/dev/null/cache) cannot be written"), std::string::npos) << message;
  EXPECT_NE(message.find("POCL_CACHE_DIR"), std::string::npos) << message;
  unsetenv("POCL_CACHE_DIR");
}

// As rusticl's (Mesa 22.3.6). It is refused by each call, and asked once.
TEST_F(OpenClDriver, IsNotTrustedWithWrongResults) {
  const std::vector<float> right(size * size, static_cast<float>(size)), untouched(size * size, 7.0f);
  faults = {.launches_nothing = true};
  Context context("opencl");
  for (int again = 0; again < 2; ++again) {
    std::vector<float> c = untouched;
    const std::string message =
        refusal([&] { context.sgemm(request, right.data(), right.data(), c.data()); }, Status::unsupported);
    EXPECT_NE(message.find(open()->info().driver + " gives wrong results"), std::string::npos) << message;
    EXPECT_EQ(c, untouched);
  }
  faults = {};
  EXPECT_EQ(files_in(cache_.path()).size(), 0u);
  Context another("opencl");
  EXPECT_EQ(multiply(another), right);
  EXPECT_GE(files_in(cache_.path()).size(), 1u);
  EXPECT_EQ(multiply(another), right);
  // Another process trusts it: the product is not computed again.
  faults = {.launches_nothing = true};
  Context third("opencl");
  EXPECT_NO_THROW(multiply(third));
}

// Whoever reads another status may compute the product in another way.
TEST_F(OpenClDriver, FailsWithADeviceErrorWhenCMayHaveChanged) {
  Context context("opencl");
  multiply(context);  // trusts the driver
  faults = {.finishes_badly = true};
  EXPECT_NE(refusal([&] { multiply(context); }, Status::device_error), "accepted");
  faults = {};
}

}  // namespace
}  // namespace duogemm::testing
