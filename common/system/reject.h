// The library and its program refuse by this what they are asked for.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "duogemm/error.h"

namespace duogemm {

// `message` names what is wrong, and what is allowed.
[[noreturn]] inline void reject(const std::string& message) {
  throw Error(Status::invalid_argument, message);
}

// What was asked for, or why it is refused: for callers who have another way then.
template <typename T>
using Answer = std::variant<T, Error>;

template <typename T>
T value_or_throw(Answer<T> answer) {
  if (const Error* error = std::get_if<Error>(&answer)) {
    throw *error;
  }
  return std::get<T>(std::move(answer));
}

}  // namespace duogemm
