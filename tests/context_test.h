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
    const DeviceName& name = GetParam();
    if (name.index >= name.backend->devices().size()) {
      GTEST_SKIP() << "no " << name.backend->name() << " device was found";
    }
    context_ =
        std::make_unique<Context>(std::string(name.backend->name()) + ":" + std::to_string(name.index));
  }

  std::unique_ptr<Context> context_;
};

}  // namespace duogemm::testing
