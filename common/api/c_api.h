// The C functions of every backend are made of these.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>

#include "duogemm/duogemm.h"
#include "duogemm/sgemm.hpp"
#include "system/reject.h"

namespace duogemm {

// The value of an enumeration from 0 to `largest`. A C program may have put any number there, which is looked
// at as a number because C++ does not let an enumeration have it.
template <typename Enumeration>
int value_of(const char* name, const Enumeration& enumerator, int largest = 1) {
  static_assert(sizeof(Enumeration) == sizeof(int));
  int value = 0;
  std::memcpy(&value, &enumerator, sizeof value);
  if (value < 0 || value > largest) {
    reject(std::string(name) + " is " + std::to_string(value) + "; it must be " +
           (largest == 1 ? "0 or 1" : "0 to " + std::to_string(largest)));
  }
  return value;
}

// Calls `call` with the problem in C++'s terms; what it throws becomes a status, and the message the thread's
// last error. A null problem or an enumerator that does not exist is an invalid argument.
duogemm_status call_from_c(const duogemm_problem* problem,
                           const std::function<void(const Sgemm&)>& call) noexcept;

// The same for a call without a problem.
duogemm_status call_from_c(const std::function<void()>& call) noexcept;

// The same for a call that answers a number of bytes, which is stored when there is no error.
duogemm_status bytes_from_c(const duogemm_problem* problem, std::size_t* bytes,
                            const std::function<std::size_t(const Sgemm&)>& call) noexcept;

}  // namespace duogemm
