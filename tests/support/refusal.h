// Calls that are refused.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "duogemm/error.h"

namespace duogemm::testing {

// The message of the invalid argument that the call throws.
inline std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_argument);
    return error.what();
  }
  return "accepted";
}

}  // namespace duogemm::testing
