// The BLAS behind this library.
#pragma once

#include <array>

#include "next.h"

namespace duogemm::blas {

// Null where there is none. Distributions have it by one of these names.
template <typename Function>
Function* next(const char* name) {
  static constexpr std::array files = {"libblas.so.3", "libcblas.so.3", "libopenblas.so.0"};
  return reinterpret_cast<Function*>(find_next(name, files));
}

}  // namespace duogemm::blas
