// The C functions of every backend are made of these.
#pragma once

#include <cstddef>
#include <functional>

#include "duogemm/duogemm.h"
#include "duogemm/sgemm.hpp"

namespace duogemm {

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
