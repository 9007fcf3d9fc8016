// The program cache: what one cache compiled, another loads from the disk, and only where it is the same
// program for the same device.
#include "runtime/program_cache.h"

#include <functional>

#include "check_plan.h"
#include "compiling_device.h"
#include "families/kernel_source.h"
#include "files.h"
#include "ladder/ladder.h"
#include "system/temporary_directory.h"
#include "test_devices.h"
#ifdef DUOGEMM_WITH_OPENCL
#include "opencl_device.h"
#include "opencl_devices.h"
#include "rungs/rungs.h"
#endif

namespace duogemm::testing {
namespace {

namespace fs = std::filesystem;

struct Counts {
  int compiled = 0;
  int loaded = 0;
  bool operator==(const Counts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.compiled << " compiled, " << counts.loaded << " loaded";
}

class ProgramCacheTest : public ::testing::Test {
 protected:
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
  CompilingDevice device;
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
    device.facts = {};
    change(device.facts);
    EXPECT_EQ(get(), compiled);
    EXPECT_EQ(get(), loaded);
  }
  device.facts = {};
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

// A real device, with a count of what it is asked for.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(Device& device) : device_(device) {}
  const DeviceInfo& info() const override { return device_.info(); }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return device_.allocate(bytes); }
  std::unique_ptr<Queue> create_queue() override { return device_.create_queue(); }
  std::string build_options(const ProgramSource& source) const override {
    return device_.build_options(source);
  }
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    ++counts.compiled;
    return device_.compile(source);
  }
  std::shared_ptr<const Kernel> load(const std::string& entry, const std::string& binary) override {
    ++counts.loaded;
    return device_.load(entry, binary);
  }

  Counts counts;

 private:
  Device& device_;
};

// An open device whose kernels give binaries where its driver has any. PoCL's has, though the library does
// not ask for them: it takes the device for another platform's.
std::unique_ptr<Device> open_with_binaries(const DeviceName& name) {
#ifdef DUOGEMM_WITH_OPENCL
  if (name.backend->name() == "opencl") {
    const cl::Device device = opencl::find_devices().at(name.index);
    DeviceInfo info = opencl::describe(device, name.index);
    info.platform = "some platform";
    return std::make_unique<opencl::ClDevice>(device, info, cl::Context(device));
  }
#endif
  return name.backend->open(name.index, {});
}

class ProgramCacheOnDevice : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
    real = device.device.get();
    with_binaries = open_with_binaries(GetParam());
  }

  // Runs two kernels, with tunables that no build has compiled, as a new process would, and checks the
  // results.
  Counts run() {
    CountingDevice device(*with_binaries);
    const std::unique_ptr<Queue> queue = device.create_queue();
    ProgramCache programs(device, DiskCache(directory.path()));
    for (const LadderSetting& setting : ladder_settings({{"naive", "tiled"}, {{"TS", 8}}, {}})) {
      const HostProblem host =
          random_problem(Problem::packed(32, 24, 16, 0.7f, -1.0f), Distribution::signed_unit, 1);
      const Plan plan = plan_setting(setting, host.problem, device.info());
      const Verdict comparison = check_plan(plan, host, Judge(host), device, *queue, programs);
      EXPECT_TRUE(comparison.exact()) << comparison.fault();
    }
    return device.counts;
  }

  static constexpr Counts both_compiled{2, 0};
  static constexpr Counts both_loaded{0, 2};
  const TemporaryDirectory directory;
  Device* real = nullptr;  // as the library opens it
  std::unique_ptr<Device> with_binaries;
};

TEST_P(ProgramCacheOnDevice, LoadsWhatAnotherCompiled) {
  EXPECT_EQ(run(), both_compiled);
  EXPECT_EQ(files_in(directory.path()).size(), 2u);
  EXPECT_EQ(run(), both_loaded);
  EXPECT_EQ(run(), both_loaded);
}

TEST_P(ProgramCacheOnDevice, CompilesAgainWhatIsDamaged) {
  run();
  for (const auto& damage : std::initializer_list<std::function<std::string(std::string)>>{
           [](std::string whole) { return whole.substr(0, whole.size() / 2); },
           [](std::string whole) { return whole.back() = static_cast<char>(whole.back() ^ 1), whole; },
           [](std::string) { return std::string(); }}) {
    for (const fs::path& file : files_in(directory.path())) {
      overwrite(file, damage(contents_of(file)));
    }
    EXPECT_EQ(run(), both_compiled);
    EXPECT_EQ(run(), both_loaded);
  }
}

TEST_P(ProgramCacheOnDevice, RefusesWhatIsNoProgram) {
  try {
    with_binaries->load("naive", "no program");
    ADD_FAILURE() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::build_failed) << error.what();
  }
}

// A program that no build has compiled is kept by whoever compiled it: PoCL by itself, other drivers'
// programs by us.
TEST_P(ProgramCacheOnDevice, AsksForNoProgramThatPoclKeeps) {
  ProgramCache programs(*real, DiskCache(directory.path()));
  const KernelSpec& spec = any_kernel("naive");
  programs.get(variant_of(spec, resolve(spec, {{"TS", 8}})));
  EXPECT_EQ(files_in(directory.path()).size(), real->kernels_compiled_by_launches() ? 0u : 1u);
}

INSTANTIATE_TEST_SUITE_P(Devices, ProgramCacheOnDevice, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
