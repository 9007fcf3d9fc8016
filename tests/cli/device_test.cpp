// Which device the program works on.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

class ProgramWithADeviceNamed : public ProgramOnADevice {
 protected:
  Outcome run_on(const std::string& device, const std::string& arguments) const {
    return run_shell("DUOGEMM_DEVICE='" + device + "' '" DUOGEMM_PROGRAM "' " + arguments);
  }
};

TEST_F(ProgramWithADeviceNamed, RefusesOneThatIsNotThere) {
  const std::string plan = "plan --size 64";
  expect_refused(run_on("vulkan", plan), {plan, {"DUOGEMM_DEVICE 'vulkan'", "runtime of this build"}});
#ifdef DUOGEMM_WITH_OPENCL
  if (run("verify --kernels 1 --size 1 --backend opencl").status == 0) {
    expect_refused(run_on("opencl:99", plan),
                   {plan, {"DUOGEMM_DEVICE 'opencl:99'", "opencl has devices 0 to"}});
    EXPECT_EQ(run_on("opencl:0", plan).status, 0);
  }
#endif
}

TEST_F(ProgramWithADeviceNamed, GoesByItsOptionsFirst) {
  EXPECT_EQ(run_on("vulkan", "plan --size 64 --device 0").status, 0);
#ifdef DUOGEMM_WITH_OPENCL
  if (run("verify --kernels 1 --size 1 --backend opencl").status == 0) {
    EXPECT_EQ(run_on("vulkan", "plan --size 64 --backend opencl").status, 0);
  }
#endif
}

}  // namespace
}  // namespace duogemm::testing
