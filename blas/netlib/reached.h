// Whether `duogemm run` did any good. It starts a program with this library in front and sets DUOGEMM_RUN to
// the program's process number; when that ends and no SGEMM ever came here, a line on stderr says why.
#pragma once

#include <atomic>

namespace duogemm::blas {

void note_reached();

// What a process knows together with all that are forked from it, such as the workers of a pool.
struct Family {
  std::atomic<bool> reached = false;  // by a call of SGEMM
  std::atomic<bool> warned = false;   // that calls are passed on
};

Family& family();

}  // namespace duogemm::blas
