// What was measured of an H200 serves other NVIDIA devices.
#include "plan/scaling.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "device/assumed_device.h"
#include "devices.h"
#include "plan/select.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

// One without a tuning file, which says all of itself that a device of that compute capability does.
DeviceInfo unknown(int compute_capability) {
  DeviceInfo info = hopper(compute_capability);
  info.name = "NVIDIA GPU of tomorrow";
  info.unit_items = unit_items(compute_capability);
  info.memory_bandwidth = 1'000'000'000'000;
  info.clusters = compute_capability >= 90;
  return info;
}

const Calibration& of_kernel(const Tuning& tuning, const char* name, std::size_t number) {
  std::size_t found = 0;
  for (const Calibration& calibration : tuning.calibrations) {
    if (calibration.spec->name == name && found++ == number) {
      return calibration;
    }
  }
  throw std::logic_error("no such calibration");
}

TEST(Scaling, ServesDevicesThatHaveAsynchronousCopies) {
  for (const int capability : {80, 86, 89, 90, 100, 120}) {
    const Planner planner(unknown(capability));
    EXPECT_TRUE(planner.tuning().source.starts_with("scaled from ")) << capability;
    EXPECT_TRUE(planner.select(Problem::packed(1000, 1000, 1000)).seconds) << capability;
  }
  EXPECT_EQ(tuning_or_analytic(unknown(75)).source, "calculated");
}

TEST(Scaling, KeepsTheKernelForShortSumsToThose) {
  const Planner planner(unknown(90));
  const auto kernel_for = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch) {
    return planner.select(problem_of(m, n, k, "NN", 0, batch)).kernel->spec->name;
  };
  EXPECT_EQ(kernel_for(8, 24, 4, 16384), "direct");
  EXPECT_EQ(kernel_for(3, 2, 2, 40440), "direct");
  EXPECT_NE(kernel_for(8, 24, 65, 16384), "direct");
  EXPECT_NE(kernel_for(1000, 1000, 64, 1), "direct");
}

TEST(Scaling, KnowsWhatAComputeUnitHas) {
  const auto has = [](int capability) {
    return std::pair(dynamic_local_bytes(capability) / 1024, unit_items(capability));
  };
  EXPECT_EQ(has(75), std::pair(std::size_t{48}, std::size_t{1024}));
  EXPECT_EQ(has(80), std::pair(std::size_t{163}, std::size_t{2048}));
  EXPECT_EQ(has(86), std::pair(std::size_t{99}, std::size_t{1536}));
  EXPECT_EQ(has(90), std::pair(std::size_t{227}, std::size_t{2048}));
  EXPECT_EQ(has(100), std::pair(std::size_t{227}, std::size_t{2048}));
  EXPECT_EQ(has(120), std::pair(std::size_t{99}, std::size_t{1536}));
}

TEST(Scaling, HasAClockAndUnitsForEveryCardThatWasMeasured) {
  for (const EmbeddedTuning& embedded : embedded_tunings()) {
    const Tuning tuning = tuning_of(embedded);
    EXPECT_EQ(tuning.clock > 0.0 && tuning.units > 0.0, tuning.target.compute_capability > 0)
        << embedded.name;
  }
}

TEST(Scaling, CountsCyclesAndLanes) {
  const DeviceInfo device = unknown(90);
  const Tuning same = scaled(*tuning_of_another(device), device);
  DeviceInfo slow = device;
  slow.clock_mhz /= 2;
  slow.compute_units /= 2;
  const Tuning slower = scaled(*tuning_of_another(slow), slow);
  DeviceInfo ampere = unknown(80);
  const Tuning fewer_lanes = scaled(*tuning_of_another(ampere), ampere);
  const Timing timing = of_kernel(same, "pipelined", 0).timings.front();
  const Timing twice = of_kernel(slower, "pipelined", 0).timings.front();
  EXPECT_DOUBLE_EQ(twice.per_k, 2.0 * timing.per_k);
  EXPECT_NEAR(twice.fixed - same.launch, 2.0 * (timing.fixed - same.launch), 1e-12);
  EXPECT_DOUBLE_EQ(of_kernel(fewer_lanes, "pipelined", 0).timings.front().per_k, 2.0 * timing.per_k);
  EXPECT_DOUBLE_EQ(slower.cached, same.cached / 4.0);
  EXPECT_DOUBLE_EQ(slower.clusters.usable_units, same.clusters.usable_units / 2.0);
}

TEST(Scaling, PromisesNothingForWorkGroupsThatHaveNoRoom) {
  const DeviceInfo device = unknown(89);
  const Tuning tuning = scaled(*tuning_of_another(device), device);
  for (const Calibration& calibration : tuning.calibrations) {
    const Variant& kernel = variant_of(*calibration.spec, calibration.tunables);
    const std::size_t groups = static_cast<std::size_t>(calibration.timings.back().groups);
    if (groups > 1) {
      EXPECT_LE(groups * kernel.local_bytes, device.dynamic_local_bytes) << calibration.spec->name;
      EXPECT_LE(groups * kernel.local[0] * kernel.local[1], device.unit_items) << calibration.spec->name;
    }
  }
}

TEST(AssumedDevice, IsAnUnknownOneOfThatComputeCapability) {
  DeviceInfo info = hopper();
  info.unit_items = unit_items(90);
  info.dependent_launch = true;
  setenv("DUOGEMM_ASSUME", "8.9", 1);
  DeviceInfo played = info;
  assume(played);
  DeviceInfo cpu_device = cpu(8);
  assume(cpu_device);
  setenv("DUOGEMM_ASSUME", "9.0", 1);
  DeviceInfo without_file = info;
  assume(without_file);
  EXPECT_EQ(played.dynamic_local_bytes, 99u * 1024);
  EXPECT_EQ(played.unit_items, 1536u);
  EXPECT_FALSE(played.clusters || played.dependent_launch);
  EXPECT_EQ(played.compute_capability, 90) << "what it runs is compiled for what it is";
  EXPECT_TRUE(tuning_for(played).calibrations.empty());
  EXPECT_EQ(cpu_device, cpu(8));
  EXPECT_EQ(without_file.dynamic_local_bytes, info.dynamic_local_bytes);
  EXPECT_TRUE(without_file.clusters);
  setenv("DUOGEMM_ASSUME", "12.0", 1);
  DeviceInfo less = info;
  assume(less);
  EXPECT_EQ(less, info);
  for (const char* wrong : {"8", "89", "8.x", "x.9", "7.5", "0.0", ".9", "8.9.9"}) {
    setenv("DUOGEMM_ASSUME", wrong, 1);
    DeviceInfo any = info;
    EXPECT_NE(refusal([&] { assume(any); }).find("DUOGEMM_ASSUME is "), std::string::npos) << wrong;
  }
  unsetenv("DUOGEMM_ASSUME");
}

}  // namespace
}  // namespace duogemm::testing
