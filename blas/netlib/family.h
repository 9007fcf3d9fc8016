// What a process knows together with all that are forked from it, such as the workers of a pool.
#pragma once

#include <atomic>

namespace duogemm::blas {

struct Family {
  std::atomic<bool> reached = false;  // by a call of SGEMM
  std::atomic<bool> warned = false;   // that calls are passed on
};

Family& family();

}  // namespace duogemm::blas
