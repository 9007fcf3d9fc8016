// A context on each of the devices that tests run on.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "duogemm/sgemm.hpp"
#include "test_devices.h"

namespace duogemm::testing {

class ContextTest : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    if (const std::string missing = GetParam().missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    context_ = std::make_unique<Context>(GetParam().selection());
  }

  std::unique_ptr<Context> context_;
};

}  // namespace duogemm::testing
