// The library and its program refuse by this what they are asked for.
#pragma once

#include <string>

#include "duogemm/error.h"

namespace duogemm {

// `message` names what is wrong, and what is allowed.
[[noreturn]] inline void reject(const std::string& message) {
  throw Error(Status::invalid_argument, message);
}

}  // namespace duogemm
