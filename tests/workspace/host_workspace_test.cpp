// Multiplications that need workspace, on host memory. The plans are those of workspace_plan.cpp.
#include <thread>

#include "product.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

class HostWorkspace : public ContextTest {};

TEST_P(HostWorkspace, EightThreadsOnOneContext) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  std::vector<std::jthread> threads;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 20; ++i) {
        const Product p(17 + i, 30 + t, 40, 20 * t + i);
        std::vector<float> c = p.host().c;
        context_->sgemm(p.request(), p.host().a.data(), p.host().b.data(), c.data());
        EXPECT_TRUE(p.is(c));
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, HostWorkspace, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
