// Libraries for CPUs, one that the tests bring and those that are here.
#include "references/cpu_libraries.h"

#include <gtest/gtest.h>

#include "check/judge.h"
#include "support/shapes.h"

namespace duogemm::bench {
namespace {

std::string about_fake(const OpenLibrary& opened) {
  return opened.ask("none", "fake_version") + std::string(" for ") +
         std::to_string(opened.ask(0, "fake_threads")) + opened.ask(" and no more", "fake_kernels");
}

const CpuLibrary fake{.title = "Fake",
                      .files = {"libduogemm_missing.so", DUOGEMM_FAKE_BLAS},
                      .set_threads = "fake_set_num_threads_",
                      .about = about_fake};

TEST(CpuLibraries, AreOpenedWhereTheyAreAndTellWhatTheyAre) {
  EXPECT_EQ(make_cpu_library(fake, 3)->name(), "Fake 1.2 for 3 and no more on 3 threads");
  EXPECT_EQ(make_cpu_library(fake, 3)->title(), "Fake");
  CpuLibrary missing = fake;
  missing.files.pop_back();
  EXPECT_EQ(make_cpu_library(missing, 3), nullptr);
}

TEST(CpuLibraries, Multiply) {
  std::vector<CpuLibrary> libraries = cpu_libraries();
  libraries.push_back(fake);
  for (const CpuLibrary& each : libraries) {
    const auto library = make_cpu_library(each, 2);
    if (library == nullptr) {
      continue;
    }
    EXPECT_EQ(library->name().find("()"), std::string::npos) << library->name();
    for (const std::string line : {"17 5 30 NN", "9 20 7 TN lda=8", "33 6 4 NT ldb=9 ldc=40",
                                   "6 7 8 TT batch=3 beta=1 a_stride=0", "8 8 8 NT batch=2"}) {
      const Problem problem = parse_shapes("x " + line, "test").front().problem;
      const GuardedOperands sets(problem, 1, library->device(), library->queue());
      library->prepare(problem, sets.operands())->execute(sets.operands());
      const Verdict verdict = Judge(problem).look_at_all(sets, library->queue());
      EXPECT_LE(verdict.worst_error, 1.0) << library->name() << ": " << line;
      EXPECT_EQ(verdict.overwritten, 0u) << library->name() << ": " << line;
    }
  }
}

}  // namespace
}  // namespace duogemm::bench
