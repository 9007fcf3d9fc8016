#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "call.h"
#include "handlers.h"

extern "C" {

// By these two, reference CBLAS tells its handlers that a call came from C, and that its matrices are stored
// by rows and were swapped for Fortran. The handlers that read them are the program's, or those of a BLAS
// that has the same two variables and by their export shares ours.
int CBLAS_CallFromC = 0;
int RowMajorStrg = 0;
}

namespace duogemm::blas {
namespace {

// Tells the handlers where a report comes from, while they run. The reference does so during the whole of
// each call; but then legal calls on other threads spoil the report.
class Marked {
 public:
  explicit Marked(Origin origin) {
    CBLAS_CallFromC = origin == Origin::fortran ? 0 : 1;
    RowMajorStrg = origin == Origin::c_by_rows ? 1 : 0;
  }
  ~Marked() { CBLAS_CallFromC = RowMajorStrg = 0; }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;
};

std::string_view trimmed(std::string_view routine) { return routine.substr(0, routine.find(' ')); }

// "SGEMM " -> "cblas_sgemm"
std::string c_name(std::string_view routine) {
  std::string name = "cblas_";
  for (const char c : trimmed(routine)) {
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

// The number that cblas_sgemm's caller gives to what is at `position` after the swap.
int before_swap(int position) {
  for (const auto& [one, other] : {std::pair(4, 5), std::pair(9, 11)}) {
    if (position == one || position == other) {
      return one + other - position;
    }
  }
  return position;
}

// The reference ends with STOP, which installers may replace: here, by a status that tells.
[[noreturn]] void end_as_xerbla(std::string_view routine, int position) {
  const std::string name(trimmed(routine));
  std::fprintf(stderr, " ** On entry to %s parameter number %2d had an illegal value\n", name.c_str(),
               position);
  std::exit(EXIT_FAILURE);
}

[[noreturn]] void end_as_cblas_xerbla(const char* routine, int position, const char* format, int value) {
  std::fprintf(stderr, "Parameter %d to routine %s was incorrect\n", position, routine);
  std::fprintf(stderr, format, value);
  std::exit(-1);
}

}  // namespace

void report(std::string_view routine, int position, Origin origin) {
  if (Xerbla* const handler = find_xerbla()) {
    const Marked marked(origin);
    handler(routine.data(), &position, routine.size());
  } else if (origin == Origin::fortran) {
    end_as_xerbla(routine, position);
  } else {
    // What the reference's XERBLA makes of a call from C, which has one argument more in front: the layout.
    report_to_c(c_name(routine).c_str(), position + 1, origin);
  }
}

void report_to_c(const char* routine, int position, Origin origin, const char* format, int value) {
  CblasXerbla* const handler = find_cblas_xerbla();
  if (handler == nullptr) {
    end_as_cblas_xerbla(routine, origin == Origin::c_by_rows ? before_swap(position) : position, format,
                        value);
  }
  const Marked marked(origin);
  handler(position, routine, format, value);
}

}  // namespace duogemm::blas
