// A call of SGEMM, whichever entry point it came through: column-major, as Fortran sees it.
#pragma once

#include <array>
#include <atomic>
#include <string_view>

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

// Computes a legal call, in which it sets what the environment asks for. Where there is no device, or none is
// usable because of a fork, or the device cannot serve the call, the next BLAS computes it, and a process and
// its forks say so once on stderr. BLAS has no way to tell a caller that it failed, and a program that went
// on would use a result that is not there: if the device fails when it may have changed a C that is read, or
// there is no next BLAS, this says why on stderr and aborts.
void compute(Call& call);

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
    static constexpr std::array files = {"libblas.so.3", "libcblas.so.3", "libopenblas.so.0",
                                         "libopenblas.dll", "libblas.dll"};
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

// Notes a call of SGEMM. `duogemm run` starts a program with this library in front and sets DUOGEMM_RUN to
// the program's process number; when that ends and no SGEMM ever came here, a line on stderr says why.
void note_reached();

// What a process knows together with all that are forked from it, such as the workers of a pool.
struct Family {
  std::atomic<bool> reached = false;  // by a call of SGEMM
  std::atomic<bool> warned = false;   // that calls are passed on
};

Family& family();

// Illegal arguments are reported to the handlers of the program's BLAS, or else as the reference does it.
enum class Origin { fortran, c_by_columns, c_by_rows };

// As reference BLAS does: to XERBLA, with the routine's name in capitals, filled up to 6 characters at least.
void report(std::string_view routine, int position, Origin origin);

// As reference CBLAS reports what Fortran's routine never sees: to cblas_xerbla. `format` may print `value`.
// When the origin is c_by_rows, the handler swaps the positions of M and N, and of SGEMM's lda and ldb.
void report_to_c(const char* routine, int position, Origin origin, const char* format = "", int value = 0);

}  // namespace duogemm::blas
