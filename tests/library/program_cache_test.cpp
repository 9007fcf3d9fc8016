// The program cache: what one cache compiled, another loads from the disk, and only where it is the same
// program for the same device.
#include "runtime/program_cache.h"

#include <functional>

#include "check_plan.h"
#include "fake_device.h"
#include "families/kernel_source.h"
#include "files.h"
#include "ladder/ladder.h"
#include "refusal.h"
#include "rungs/rungs.h"
#include "system/temporary_directory.h"
#ifdef DUOGEMM_WITH_OPENCL
#include "opencl_device.h"
#include "rungs/rungs.h"
#endif

namespace duogemm::testing {
namespace {

namespace fs = std::filesystem;

// Programs that were compiled, and that were loaded.
using Counts = std::pair<int, int>;

class ProgramCacheTest : public ::testing::Test {
 protected:
  ProgramCacheTest() { device.binary = FakeDevice::binary_of; }
  // Counts what a new process would compile and load to get the kernel.
  Counts get(const Tunables& set = {}) {
    device.compiled.clear();
    device.loaded = 0;
    ProgramCache programs(device, DiskCache(directory.path()));
    const KernelSpec& spec = any_kernel("naive");
    const Tunables tunables = resolve(spec, set);
    EXPECT_NE(programs.get(variant_of(spec, tunables)), nullptr);
    EXPECT_EQ(programs.get(variant_of(spec, tunables)), programs.get(variant_of(spec, tunables)));
    return {static_cast<int>(device.compiled.size()), device.loaded};
  }

  static constexpr Counts compiled{1, 0};
  static constexpr Counts loaded{0, 1};
  const TemporaryDirectory directory;
  Faults faults;
  FakeDevice device{faults};
};

TEST_F(ProgramCacheTest, LoadsWhatAnotherCompiled) {
  EXPECT_EQ(get(), compiled);
  EXPECT_EQ(get(), loaded);
  EXPECT_EQ(files_in(directory.path()).size(), 1u);
}

TEST_F(ProgramCacheTest, LoadsOnlyTheSameProgramForTheSameDevice) {
  get();
  EXPECT_EQ(get({{"TS", 8}}), compiled);
  const std::vector<std::function<void(DeviceInfo&)>> changes = {
      [](DeviceInfo& info) { info.backend = "other"; },
      [](DeviceInfo& info) { info.name = "other"; },
      [](DeviceInfo& info) { info.vendor = "other"; },
      [](DeviceInfo& info) { info.platform = "other"; },
      [](DeviceInfo& info) { info.platform_version = "other"; },
      [](DeviceInfo& info) { info.driver = "other"; },
      [](DeviceInfo& info) { info.runtime = "other"; },
      [](DeviceInfo& info) { info.compute_capability = 90; }};
  for (const auto& change : changes) {
    device.facts = DeviceInfo{};
    change(device.facts);
    EXPECT_EQ(get(), compiled);
    EXPECT_EQ(get(), loaded);
  }
  device.facts = DeviceInfo{};
  device.options = "-O3";
  EXPECT_EQ(get(), compiled);
  EXPECT_EQ(get(), loaded);
}

TEST_F(ProgramCacheTest, LoadsOnlyTheSameSource) {
  get();
  const TemporaryDirectory edited;
  const auto edit = [&](const std::string& file) {
    const fs::path path = edited.path() / file;
    fs::create_directories(path.parent_path());
    overwrite(path, std::string(embedded_text(file)) + "// edited\n");
  };
  edit("kernels/" + any_kernel("naive").path);
  for (const EmbeddedFile& file : embedded_files()) {
    edit(std::string(file.path));
  }
  setenv("DUOGEMM_KERNEL_DIR", edited.path().c_str(), 1);
  EXPECT_EQ(get(), compiled);
  setenv("DUOGEMM_KERNEL_DIR", "", 1);  // counts as unset
  EXPECT_EQ(get(), loaded);
  unsetenv("DUOGEMM_KERNEL_DIR");
  EXPECT_EQ(get(), loaded);
}

TEST_F(ProgramCacheTest, CompilesWhatTheDeviceRefuses) {
  get();
  device.refuses = true;
  EXPECT_EQ(get(), compiled);
  device.refuses = false;
  EXPECT_EQ(get(), loaded);
  device.binary = [](const std::string&) { return "binary of another driver"; };
  device.options = "-O3";
  EXPECT_EQ(get(), compiled);
  EXPECT_EQ(get(), compiled);
}

TEST_F(ProgramCacheTest, KeepsNoKernelWithoutABinary) {
  device.binary = [](const std::string&) { return ""; };
  EXPECT_EQ(get(), compiled);
  device.binary = [](const std::string&) -> std::string { throw Error(Status::out_of_memory, "no memory"); };
  EXPECT_EQ(get(), compiled);
  EXPECT_TRUE(files_in(directory.path()).empty());
}

class ProgramCacheOnDevice : public DeviceTest {};

// Kernels give binaries where the driver has any. PoCL's has, though the library does not ask for them: it
// takes the device for another platform's.
std::unique_ptr<Device> open_with_binaries(const DeviceName& name) {
#ifdef DUOGEMM_WITH_OPENCL
  if (name.backend->name() == "opencl") {
    const cl::Device device = opencl::find_devices().at(name.index);
    DeviceInfo info = opencl::describe(device, name.index);
    info.platform = "some platform";
    return opencl::open_device(device, info, cl::Context(device));
  }
#endif
  return name.backend->open(name.index, {});
}

// Which multiplies as what was compiled, with tunables that no build has compiled; and the driver refuses
// what is no program.
TEST_P(ProgramCacheOnDevice, LoadsWhatAnotherCompiled) {
  const TemporaryDirectory directory;
  const HostProblem host =
      random_problem(Problem::packed(32, 24, 16, 0.7f, -1.0f), Distribution::signed_unit, 1);
  for (const std::size_t kept : {0, 1}) {
    EXPECT_EQ(files_in(directory.path()).size(), kept);
    TestDevice on{open_with_binaries(GetParam()), nullptr, nullptr};
    on.queue = on.device->create_queue();
    on.programs = std::make_unique<ProgramCache>(*on.device, DiskCache(directory.path()));
    const LadderSetting setting = kernel_setting("naive", {{"TS", 8}}, {});
    const Plan plan = plan_setting(setting, host.problem, on.device->info());
    const Verdict found = run_plan(plan, host, on).verdict;
    EXPECT_TRUE(found.exact()) << found.fault();
    const auto compiled = on.device->compile(program_source(*plan.steps.at(0).kernel));
    EXPECT_NO_THROW(on.device->load("naive", compiled->binary()));
    EXPECT_NE(refusal([&] { on.device->load("naive", "no program"); }, Status::build_failed), "accepted");
  }
}

// A program that no build has compiled is kept by whoever compiled it: PoCL by itself, other drivers'
// programs by us.
TEST_P(ProgramCacheOnDevice, AsksForNoProgramThatPoclKeeps) {
  DUOGEMM_TEST_DEVICE(real, GetParam());
  const TemporaryDirectory directory;
  ProgramCache programs(*real.device, DiskCache(directory.path()));
  const KernelSpec& spec = any_kernel("naive");
  programs.get(variant_of(spec, resolve(spec, {{"TS", 8}})));
  EXPECT_EQ(files_in(directory.path()).size(), real.device->kernels_compiled_by_launches() ? 0u : 1u);
}

INSTANTIATE_TEST_SUITE_P(Devices, ProgramCacheOnDevice, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
