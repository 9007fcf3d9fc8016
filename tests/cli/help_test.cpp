// What the program tells of itself and of what there is.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

TEST_F(Program, HelpsAndTellsItsVersion) {
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_NE(run("ladder --help").out.find("--kernels"), std::string::npos);
  EXPECT_NE(run("--version").out.find("duogemm "), std::string::npos);
}

TEST_F(Program, ListsDevicesOfEveryRuntimeInTheBuild) {
  const Outcome outcome = run("devices");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
#ifdef DUOGEMM_WITH_CUDA
  EXPECT_NE(outcome.out.find("cuda:"), std::string::npos);
#endif
#ifdef DUOGEMM_WITH_OPENCL
  EXPECT_NE(outcome.out.find("opencl:"), std::string::npos);
#endif
}

}  // namespace
}  // namespace duogemm::testing
