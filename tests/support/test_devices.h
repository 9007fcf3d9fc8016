// The devices that tests run on: each kind of device that this build can reach, opened once per process.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "duogemm/sgemm.hpp"
#include "runtime/executor.h"

namespace duogemm::testing {

// A device by name, whether it is there or not: "cuda0", "opencl0", "opencl1". Every backend of the build has
// at least its device 0 listed, so that a test on it is seen to be skipped where there is none.
struct DeviceName {
  const Backend* backend;
  std::size_t index;

  std::string text() const { return std::string(backend->name()) + std::to_string(index); }
  // As DUOGEMM_DEVICE has it.
  std::string selection() const { return std::string(backend->name()) + ":" + std::to_string(index); }
  // Why there is no such device, or it has no kernels; empty where it has.
  std::string missing() const;
};

std::vector<DeviceName> test_devices();

// The name of a test on a device.
inline std::string device_name(const ::testing::TestParamInfo<DeviceName>& info) { return info.param.text(); }

// An open device with a queue and its compiled programs.
struct TestDevice {
  std::unique_ptr<Device> device;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<ProgramCache> programs;
};

// Tells whether this is PoCL 4 or 5. 5.0 makes wrong code of the kernel `pipelined` where it transposes an
// operand through registers, which may write anywhere in this very process, or ends it while it compiles. 3.1
// and 6.0 are right.
bool miscompiles_pipelined(const DeviceInfo& info);

// The device, opened at the first call; null, with the reason in `why`, where there is none.
TestDevice* find_test_device(const DeviceName& name, std::string& why);

// Within a test: `TestDevice& device = ...` or skip the test with the reason.
#define DUOGEMM_TEST_DEVICE(variable, name)                          \
  std::string variable##_reason;                                     \
  ::duogemm::testing::TestDevice* variable##_found =                 \
      ::duogemm::testing::find_test_device(name, variable##_reason); \
  if (variable##_found == nullptr) {                                 \
    GTEST_SKIP() << variable##_reason;                               \
  }                                                                  \
  ::duogemm::testing::TestDevice& variable = *variable##_found

// The same for a test of kernels that need the whole dialect.
#define DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(variable, name)         \
  DUOGEMM_TEST_DEVICE(variable, name);                            \
  if (!variable.device->info().barriers) {                        \
    GTEST_SKIP() << "the device has a part of the dialect alone"; \
  }                                                               \
  static_assert(true)

// For each device; skipped where there is none.
class DeviceTest : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    if (const std::string missing = GetParam().missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
  }
};

// With a context on it.
class ContextTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped()) {
      context_ = std::make_unique<Context>(GetParam().selection());
    }
  }

  std::unique_ptr<Context> context_;
};

}  // namespace duogemm::testing
