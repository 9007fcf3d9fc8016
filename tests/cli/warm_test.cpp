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
  const Outcome first = run_well("warm");
  expect_match(first.out,
               "through [a-z]+: [1-9][0-9]* programs, [0-9]+ compiled, [0-9]+ there already, "
               "[0-9.]+ s\n$");
  const Outcome second = run_well("warm --jobs 3");
  expect_match(second.out, " programs, 0 compiled, [1-9][0-9]* there already,");
  const Outcome worker = run_well("warm --share 2/5");
  expect_match(worker.out, "^[1-9][0-9]* 0\\n$");

  // A common multiplication then needs no compiler; in PoCL's cache that shows.
  const std::size_t kept = kernels_kept_by_pocl();
  EXPECT_EQ(run("compare --size 200 --ops TN --against none --seconds 0.001").status, 0);
  EXPECT_EQ(kernels_kept_by_pocl(), kept);

  use_kernels_with("kernels/gemm/finish.cl", "{", "{ this is no C;");
  const Outcome failed = run("warm --jobs 2");
  EXPECT_EQ(failed.status, 1) << failed.out;
  EXPECT_EQ(failed.out, "");
  expect_match(failed.err, "(^|\n)duogemm: finish GROUP=");
}

TEST_F(ProgramThatWarms, NeedsAPlaceForPrograms) {
  if (run("devices").out.find("PoCL") != std::string::npos) {
    GTEST_SKIP() << "PoCL has a place of its own";
  }
  setenv("DUOGEMM_CACHE_DIR", "", 1);
  expect_refused(run("warm"), {"DUOGEMM_CACHE_DIR"});
  write("programs", "a file");
  setenv("DUOGEMM_CACHE_DIR", (folder_ / "programs").c_str(), 1);
  expect_refused(run("warm"), {"programs", "folder"});
}

}  // namespace
}  // namespace duogemm::testing
