// `duogemm warm`.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

// PoCL keeps what it compiles in a folder of its own.
class ProgramThatWarms : public ProgramOnADevice {
 protected:
  void SetUp() override {
    ProgramOnADevice::SetUp();
    setenv("DUOGEMM_CACHE_DIR", (folder_ / "programs").c_str(), 1);
    setenv("POCL_CACHE_DIR", (folder_ / "pocl").c_str(), 1);
  }
  void TearDown() override {
    setenv("DUOGEMM_CACHE_DIR", "", 1);
    unsetenv("POCL_CACHE_DIR");
    ProgramOnADevice::TearDown();
  }

  std::size_t kernels_kept_by_pocl() const {
    const std::filesystem::path folder = folder_ / "pocl";
    std::error_code nothing_there;
    const std::filesystem::recursive_directory_iterator files(folder, nothing_there);
    return static_cast<std::size_t>(std::count_if(
        begin(files), end(files), [](const auto& entry) { return entry.path().extension() == ".so"; }));
  }
};

TEST_F(ProgramThatWarms, CompilesAndThenFindsThePrograms) {
  const Outcome first = run("warm");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(matches(first.out,
                      "through [a-z]+: [1-9][0-9]* programs, [0-9]+ compiled, [0-9]+ there already, "
                      "[0-9.]+ s\n$"))
      << first.out;
  const Outcome second = run("warm --jobs 3");
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_TRUE(matches(second.out, " programs, 0 compiled, [1-9][0-9]* there already,")) << second.out;
  const Outcome worker = run("warm --share 2/5");
  EXPECT_EQ(worker.status, 0) << worker.err;
  EXPECT_TRUE(matches(worker.out, "^[1-9][0-9]* 0\\n$")) << worker.out;

  // A common multiplication then needs no compiler; in PoCL's cache that shows.
  const std::size_t kept = kernels_kept_by_pocl();
  EXPECT_EQ(run("compare --size 200 --ops TN --against none --seconds 0.001").status, 0);
  EXPECT_EQ(kernels_kept_by_pocl(), kept);

  use_kernels_with("kernels/gemm/finish.cl", "{", "{ this is no C;");
  const Outcome failed = run("warm --jobs 2");
  EXPECT_EQ(failed.status, 1) << failed.out;
  EXPECT_EQ(failed.out, "");
  EXPECT_TRUE(matches(failed.err, "(^|\n)duogemm: finish GROUP=")) << failed.err;
}

TEST_F(ProgramThatWarms, NeedsAPlaceForPrograms) {
  if (run("devices").out.find("PoCL") != std::string::npos) {
    GTEST_SKIP() << "PoCL has a place of its own";
  }
  setenv("DUOGEMM_CACHE_DIR", "", 1);
  expect_refused(run("warm"), {"warm", {"DUOGEMM_CACHE_DIR"}});
  std::ofstream(folder_ / "programs") << "a file";
  setenv("DUOGEMM_CACHE_DIR", (folder_ / "programs").c_str(), 1);
  expect_refused(run("warm"), {"warm", {"programs", "folder"}});
}

}  // namespace
}  // namespace duogemm::testing
