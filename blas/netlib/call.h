// A call of SGEMM, whichever entry point it came through: column-major, as Fortran sees it.
#pragma once

#include <array>
#include <atomic>

#include "duogemm/sgemm.hpp"
#include "next.h"

namespace duogemm::blas {

struct Call {
  Sgemm problem;
  const float* a;
  const float* b;
  float* c;
};

// The numbers of an entry point's arguments, counted from 1.
struct Positions {
  int m;
  int n;
  int k;
  int lda;
  int ldb;
  int ldc;
  int batch;
};

inline constexpr Positions sgemm_positions{
    .m = 3, .n = 4, .k = 5, .lda = 8, .ldb = 10, .ldc = 13, .batch = 0};

// The position of the first illegal argument, in the order in which reference BLAS checks them, or 0.
int first_illegal(const Sgemm& problem, const Positions& positions);

// Computes a legal call. Where there is no device, or none is usable because of a fork, or the device cannot
// serve the call, the next BLAS computes it, and a process and its forks say so once on stderr. BLAS has no
// way to tell a caller that it failed, and a program that went on would use a result that is not there: if
// the device fails when it may have changed a C that is read, or there is no next BLAS, this says why on
// stderr and aborts.
void compute(const Call& call);

// A function of the BLAS behind this library, which is looked for when it is first asked for: by several
// threads where they ask at once. None of them holds what a fork could leave held in the child, as the guard
// of a static variable that was made then.
template <typename Function>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}

  const char* name() const { return name_; }

  // Null where there is none. Distributions have it by one of these names.
  Function* find() {
    static constexpr std::array files = {"libblas.so.3", "libcblas.so.3", "libopenblas.so.0"};
    Function* found = found_;
    if (found == nullptr) {
      found_ = found = reinterpret_cast<Function*>(find_next(name_, files));
    }
    return found;
  }

 private:
  const char* const name_;
  std::atomic<Function*> found_ = nullptr;
};

}  // namespace duogemm::blas
