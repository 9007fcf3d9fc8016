// What the program tells of itself and of what there is.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

TEST_F(Program, Helps) {
  EXPECT_EQ(run("--help").status, 0);
  EXPECT_NE(run("ladder --help").out.find("--kernels"), std::string::npos);
}

TEST_F(Program, TellsWhatItIsMadeOf) {
  const Outcome outcome = run("--version");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  std::vector<std::string> lines = {"duogemm [0-9.]+ \\(commit ([0-9a-f]{4,40}|unknown)\\)", "backends: .+",
                                    "build switches: BACKEND=.+, USE_LDG=(ON|OFF), USE_SHUFFLE=(ON|OFF)"};
#ifdef DUOGEMM_WITH_OPENCL
  lines.insert(lines.end(), {"OpenCL headers: [0-9.]+", "OpenCL loader: .+", "OpenCL platform: .+"});
#endif
#ifdef DUOGEMM_WITH_CUDA
  lines.insert(lines.end(), {"CUDA toolkit: [0-9.]+", "NVRTC: [0-9.]+", "CUDA driver: (for CUDA|none:) .+"});
#endif
  for (const std::string& line : lines) {
    EXPECT_TRUE(matches(outcome.out, "(^|\n)" + line + "\n")) << line << "\n" << outcome.out;
  }
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
