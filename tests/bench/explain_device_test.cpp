// `duogemm explain` finds a main loop in every kernel as this machine's devices compile it.
#include "explain/explain.h"
#include "test_devices.h"
#include "timing/device_speed.h"

namespace duogemm::testing {
namespace {

using namespace bench;

// Before anything touches OpenCL: the process's environment says where PoCL keeps what it compiles.
PoclCache pocl_cache;

class ExplainedDevice : public ::testing::TestWithParam<DeviceName> {
 protected:
  static std::vector<Explanation> explain_all(const DeviceName& name) {
    ExplainRequest request;
    request.settings = ladder_settings({});
    const DeviceInfo device = name.backend->devices().at(name.index);
    std::erase_if(request.settings, [&](const LadderSetting& setting) {
      const bool wants_cpu = as_rung(*setting.spec)->for_cpus && device.kind == DeviceKind::gpu;
      return wants_cpu || unsupported_reason(*setting.spec, setting.tunables, device);
    });
    if (device.barriers) {
      request.settings.push_back(kernel_setting("general", {}, {}));
      request.settings.push_back(kernel_setting("pipelined", {}, {}));
    }
    request.devices = {{name.backend, name.index}};
    request.shape = {256, 256, 256};
    request.measure = {.seconds = 1e-3};
    Progress progress;
    return explain(request, pocl_cache, progress).explanations;
  }
};

TEST_P(ExplainedDevice, HasAMainLoopInEveryKernel) {
  const std::vector<DeviceInfo> devices = GetParam().backend->devices();
  if (GetParam().index >= devices.size()) {
    GTEST_SKIP() << "no " << GetParam().backend->name() << " device was found";
  }
  for (const Explanation& explanation : explain_all(GetParam())) {
    SCOPED_TRACE(explanation.name());
    EXPECT_GT(explanation.speed(), 0.0);
    if (explanation.artefacts.language.empty()) {
      EXPECT_FALSE(explanation.artefacts.missing.empty());
      continue;
    }
    ASSERT_TRUE(explanation.loop) << explanation.artefacts.language;
    EXPECT_GT(explanation.loop->mix.multiply_adds, 0.0);
    EXPECT_EQ(explanation.loop->mix.multiply_adds > 0.0, !explanation.roofline.bounds.empty());
    if (explanation.device.is_nvidia()) {
      // Through both runtimes the compiler is told how many work-groups a kernel wants at once.
      EXPECT_EQ(explanation.artefacts.facts.ptx.find(".minnctapersm 1") != std::string::npos,
                explanation.tunables.contains("RESIDENT"));
      EXPECT_TRUE(explanation.artefacts.registers());
      ASSERT_TRUE(explanation.occupancy);
      // The driver's own count, where there is one, is the one that the model finds.
      EXPECT_EQ(explanation.artefacts.facts.resident.value_or(explanation.occupancy->groups),
                explanation.occupancy->groups);
    }
  }
}

TEST_P(ExplainedDevice, IsNotMeasuredOnceItIsStopped) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  ProgramCache programs(*device.device, DiskCache({}));
  const std::atomic<bool> stop = true;
  EXPECT_EQ(measure_peak(*device.device, *device.queue, programs, stop), 0.0);
  EXPECT_EQ(measure_bandwidth(*device.device, *device.queue, programs, stop).memory, 0.0);
}

INSTANTIATE_TEST_SUITE_P(Devices, ExplainedDevice, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
