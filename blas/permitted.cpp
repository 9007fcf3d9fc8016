#include "permitted.h"

#include <cstdio>
#include <cstdlib>

#include "problem/precision.h"

namespace duogemm::blas {

Precision permitted_precision() {
  const char* name = std::getenv("DUOGEMM_PRECISION");
  try {
    return name == nullptr || *name == '\0' ? Precision::fp32 : parse_precision("DUOGEMM_PRECISION", name);
  } catch (const Error& error) {
    std::fprintf(stderr, "duogemm: %s; fp32 is used\n", error.what());
    return Precision::fp32;
  }
}

}  // namespace duogemm::blas
