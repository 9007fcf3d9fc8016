// Calls that are refused.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "duogemm/error.h"

namespace duogemm::testing {

// The message of the error with this status that the call throws.
inline std::string refusal(const std::function<void()>& call, Status expected = Status::invalid_argument) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), expected) << error.what();
    return error.what();
  }
  return "accepted";
}

}  // namespace duogemm::testing
