// A doubtful measurement comes with a warning.
#include <gtest/gtest.h>

#include <cstdlib>

#include "output/table.h"
#include "references/reference.h"
#include "runner/runs.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

GpuMoment at(double seconds, unsigned mhz, const std::string& slowed_by = "") {
  return {seconds, {"", mhz, 0, 40, 300.0, slowed_by}};
}

const Samples steady{{1.0, 1.0, 1.0, 1.0, 1.0}};
const Samples wild{{1.0, 2.0, 1.0, 2.0, 1.0, 2.0}};

TEST(TimingWarnings, AreNoneWhenAllIsWell) {
  const NamedSamples samples[] = {{"a", &steady}};
  EXPECT_TRUE(timing_warnings({at(0, 1980), at(1, 1950)}, samples, 0.01).empty());
  EXPECT_TRUE(timing_warnings({}, {}, 0.01).empty());
  const Samples none;
  const NamedSamples not_run[] = {{"not run", &none}};
  EXPECT_TRUE(timing_warnings({}, not_run, 0.01).empty());
}

TEST(TimingWarnings, TellOfAClockThatFellAndWhy) {
  const std::string said = "the SM clock was between 1755 and 1980 MHz during the run, held down by power";
  EXPECT_EQ(timing_warnings({at(0, 1980), at(1, 1755, "power"), at(2, 1980)}, {}, 0.01),
            std::vector<std::string>{said});
  EXPECT_EQ(warning_lines({said}).find("Warning: the SM clock"), 0u);
}

TEST(TimingWarnings, NameWhoSpreadsAndWhoIsNoisy) {
  const NamedSamples samples[] = {{"calm", &steady}, {"wild", &wild}};
  const auto warnings = timing_warnings({}, samples, 0.01);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("more than 10 percent: wild (67%)"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("below 1 percent: wild ("), std::string::npos) << warnings[1];
}

TEST(TimingWarnings, DoNotNameEverybody) {
  const std::vector<NamedSamples> samples(9, {"x", &wild});
  EXPECT_NE(timing_warnings({}, samples, 1.0).at(0).find(", and others"), std::string::npos);
}

TEST(TimingWarnings, CallAReferenceThatIsAbsurdlySlowSo) {
  EXPECT_FALSE(slow_reference_warning("OpenBLAS", 18.0, "duogemm"));
  const std::string warning = slow_reference_warning("OpenBLAS 0.3.21", 45.7, "cpu_panels").value_or("");
  EXPECT_EQ(warning.find("OpenBLAS 0.3.21 is absurdly slow: it took 46 times as long as cpu_panels"), 0u)
      << warning;
}

TEST(TimingWarnings, NameWhatTakesSomethingFromAReference) {
  const auto warning = [](const std::string& title) {
    return weak_kernels_warning(title, title).value_or("");
  };
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  EXPECT_EQ(warning("OpenBLAS"), "");
  setenv("OPENBLAS_CORETYPE", "Haswell", 1);
  setenv("BLIS_ARCH_TYPE", "haswell", 1);
  EXPECT_EQ(warning("OpenBLAS"), "OpenBLAS obeys OPENBLAS_CORETYPE=Haswell: without that it may be faster");
  EXPECT_EQ(warning("BLIS"), "BLIS obeys BLIS_ARCH_TYPE=haswell: without that it may be faster");
  EXPECT_EQ(warning("CLBlast"), "");
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("BLIS_ARCH_TYPE");
}

TEST(TimingWarnings, NameALibraryThatIsOlderThanTheProcessor) {
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2");
#else
  const bool has_avx2 = false;
#endif
  const auto uses_old_kernels = [](const std::string& title, const std::string& name) {
    return weak_kernels_warning(title, name).value_or("").find(name + " uses kernels for processors older") ==
           0;
  };
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OPENBLAS_L2_SIZE");
  EXPECT_EQ(uses_old_kernels("OpenBLAS", "OpenBLAS 0.3.21 (Prescott) on 2 threads"), has_avx2);
  EXPECT_EQ(uses_old_kernels("BLIS", "BLIS 1.0 (generic) on 2 threads"), has_avx2);
  EXPECT_FALSE(uses_old_kernels("OpenBLAS", "OpenBLAS 0.3.34 (SkylakeX) on 2 threads"));
  EXPECT_FALSE(uses_old_kernels("CLBlast", "CLBlast (Prescott)"));
  setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  EXPECT_FALSE(uses_old_kernels("OpenBLAS", "OpenBLAS 0.3.34 (Prescott) on 2 threads")) << "as it was told";
  unsetenv("OPENBLAS_CORETYPE");
}

TEST(ALadderReport, SaysThatItWasInterruptedAndNotThatTimeWasUp) {
  LadderReport report;
  report.rows.resize(2);
  KernelSpec kernel;
  for (Row& row : report.rows) {
    row.setting.spec = &kernel;
  }
  report.rows[0].samples = wild;
  report.keep_measured();
  const std::vector<std::string> warnings = report.warnings(0.01);
  EXPECT_EQ(warnings.back(), "the run was interrupted: rows are missing: 1");
  for (const std::string& warning : warnings) {
    EXPECT_EQ(warning.find("time was up"), std::string::npos) << warning;
  }
}

TEST(ALadderReport, WarnsOfABusyMachineAndOfAReferenceThatSuffersFromIt) {
  KernelSpec kernel;
  kernel.name = "quick";
  const Samples slow{{30.0, 30.0, 30.0, 30.0, 30.0}};
  LadderReport report;
  report.rows.resize(1);
  report.rows[0].setting.spec = &kernel;
  report.rows[0].samples = steady;
  report.reference.name = "OpenBLAS 0.3.21";
  report.reference.samples = slow;
  ASSERT_EQ(report.warnings(0.01).size(), 1u);
  EXPECT_NE(report.warnings(0.01)[0].find("30 times as long as quick"), std::string::npos);
  report.busy = "the machine is busy";
  EXPECT_EQ(report.warnings(0.01)[0], "the machine is busy");
}

TEST(ALadderReport, KeepsOfAnInterruptedRunWhatWasMeasured) {
  KernelSpec kernel;
  kernel.name = "quick";
  LadderReport report;
  report.rows.resize(4);
  for (Row& row : report.rows) {
    row.setting.spec = &kernel;
  }
  report.rows[0].samples = steady;
  report.rows[1].missing = "not supported here";
  report.rows[2].samples = steady;  // without its multiplication alone
  report.rows[2].support_steps = 1;
  report.reference.name = "OpenBLAS 0.3.21";
  report.keep_measured();
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[1].missing, "not supported here");
  EXPECT_EQ(report.reference.name, "");
  EXPECT_EQ(report.warnings(0.01), std::vector<std::string>{"the run was interrupted: rows are missing: 2"});
}

TEST(AComparison, WarnsOfAReferenceThatIsAbsurdlySlow) {
  const Samples slow{{30.0, 30.0, 30.0, 30.0, 30.0}};
  CompareReport report;
  report.others.push_back({"OpenBLAS", "OpenBLAS 0.3.21"});
  report.problems.push_back({.rows = {{.samples = steady}, {.samples = slow}}});
  ASSERT_EQ(report.warnings(0.01).size(), 1u);
  EXPECT_NE(report.warnings(0.01)[0].find("30 times as long as duogemm"), std::string::npos);
}

TEST(BusyWarning, ComesFromHalfTheCoresOn) {
  EXPECT_FALSE(busy_warning(0.9, 2));
  EXPECT_NE(busy_warning(3.2, 2).value_or("").find("load average 3.2 on 2 cores"), std::string::npos);
}

TEST(AGpuWatch, LetsTheWorkRunWhereThereIsNoGpu) {
  GpuWatch watch("");
  bool ran = false;
  watch.during([&] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_TRUE(watch.moments().empty());
}

}  // namespace
}  // namespace duogemm::bench
