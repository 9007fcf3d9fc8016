// `duogemm verify`, also of kernels with mistakes in them.
#include "cli/program.h"
#include "device/device_selection.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

TEST_F(ProgramOnADevice, AppliesTunablesAndSwitches) {
  const Outcome outcome =
      run_well("verify --size 40 --kernels 6,8 --set TSM=64,TSN=32,WPTM=4,WPTN=4 --no-ldg");
  expect_match(outcome.out, "TSM=64 TSN=32 WPTM=4 WPTN=4");
  expect_match(outcome.out, "USE_LDG=0");
}

// Tiles of the kernel `general` that PoCL compiles in the shortest time.
const std::string small_tiles = "TSM=16,TSN=16,TSK=8,WPTM=2,WPTN=1";

TEST_F(ProgramOnADevice, VerifiesTheLibrarysKernels) {
  const Outcome outcome = run_well("verify --gemm --kernels general,finish --size 19 --set " + small_tiles);
  // Fifteen problems to multiply, three of them with factors in memory, and nine with nothing to multiply.
  expect_match(outcome.out, "general +TSK=8 TSM=16 .* +general finish +15 +0[.][0-9]+ +ok");
  expect_match(outcome.out, "finish +finish +9 +0[.]00 +ok");
}

// Direct and transposed tiles of equal sizes, and with a side that is three times a power of two. Fifteen
// problems, ten of them again with k split, and once more in clusters where the device has them.
TEST_F(ProgramOnADevice, VerifiesThePipelinedKernel) {
  const SelectedDevice selected = select_device("");
  if (const DeviceInfo info = selected.backend->devices().at(selected.index); miscompiles_pipelined(info)) {
    GTEST_SKIP() << info.platform_version << ": PoCL 4 and 5 may end the process as they compile this kernel";
  }
  for (const char* tiles : {"TSM=32,TSN=32,TSK=8,WPTM=4,WPTN=4,LANES_M=8,STAGES=3",
                            "TSM=48,TSN=32,TSK=8,WPTM=4,WPTN=4,LANES_M=4,STAGES=2"}) {
    const Outcome outcome =
        run_well(std::string("verify --gemm --kernels pipelined --size 35 --set ") + tiles);
    expect_match(outcome.out, "pipelined +.* +pack pipelined finish reduce +(25|35) +0[.][0-9]+ +ok");
  }
}

// A mistake in a kernel's file, and what the program is to say of it.
struct Mistake {
  std::string file;
  std::string right;
  std::string wrong;
  std::string arguments;
  std::string verdict;
};

// As a driver may have it: a product is rounded before it is added.
TEST_F(ProgramOnADevice, SaysThatFmaRoundsTwice) {
  if (run("verify --backend opencl --kernels 1 --size 1").status != 0) {
    GTEST_SKIP() << "no opencl device was found";
  }
  const std::string contract = "#pragma OPENCL FP_CONTRACT OFF";
  use_kernels_with("compat/opencl.h", contract, contract + "\n#define fma(a, b, c) ((a) * (b) + (c))");
  const Outcome outcome = run("verify --backend opencl --kernels 1");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  expect_match(outcome.out, "arithmetic is not IEEE 754's, .*: fma \\(not fused\\)");
}

// One that does not compile fails alone, and the compiler's words are not lost.
TEST_F(ProgramOnADevice, GoesOnAfterAKernelThatDoesNotCompile) {
  use_kernels_with("kernels/ladder/01_naive.cl", "acc = 0.0f", "acc = wrong_on_purpose");
  for (const std::string command : {"ladder --seconds 0.001 --size 16", "verify --size 16"}) {
    const Outcome outcome = run(command + " --kernels 1,2");
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    expect_match(outcome.out, "1 +naive.* WRONG: it does not compile\n");
    expect_match(outcome.out, "2 +tiled.* ok\n");
    expect_match(outcome.err, "wrong_on_purpose");
  }
  expect_match(run("ladder --seconds 0.001 --size 16 --kernels 2").out, "the kernels are those of /");
}

TEST_F(ProgramOnADevice, SaysWhatIsWrong) {
  const std::string verify_general = "verify --gemm --kernels general --size 19 --set " + small_tiles;
  const std::string verify_finish = "verify --gemm --kernels finish --size 19";
  const Mistake mistakes[] = {
      {"kernels/ladder/01_naive.cl", "acc = 0.0f", "acc = 1.0f", "verify --kernels 1,2 --size 16",
       "1 +naive.*WRONG: M=16 N=16 K=16"},
      {"kernels/ladder/01_naive.cl", "acc = 0.0f", "acc = 1.0f", "ladder --kernels 1 --size 16", "WRONG"},
      {"kernels/gemm/general.cl", "p.b.ld, cols, tid", "TRANS_B ? p.a.ld : p.b.ld, cols, tid", verify_general,
       "general.*WRONG: M=19 N=19 K=19 .*, B transposed"},
      {"kernels/gemm/general.cl", "tidm + wm * RTSM < rows", "tidm + wm * RTSM <= rows", verify_general,
       "general.*WRONG: .*C\\[19\\] was overwritten"},
      {"kernels/gemm/element.h", "(member) * (layout).stride", "(member) * (member) * (layout).stride",
       verify_finish, "finish.*WRONG: .*a batch by strides: member 2"},
      {"kernels/gemm/element.h", "(table)[member] >>", "((table)[member] + (member == 1)) >>", verify_finish,
       "finish.*WRONG: .*a batch by offsets: member 1"},
      {"kernels/gemm/finish.cl", "c_factor == 0.0f ? 0.0f : added",
       "c_factor * load_element(C, c + col * p.c.ld + row, type)", verify_finish, "finish.*WRONG: .*nan"},
  };
  for (const Mistake& mistake : mistakes) {
    use_kernels_with(mistake.file, mistake.right, mistake.wrong);
    const Outcome outcome = run(mistake.arguments);
    EXPECT_EQ(outcome.status, 1) << mistake.wrong;
    expect_match(outcome.out, mistake.verdict);
  }
}

}  // namespace
}  // namespace duogemm::testing
