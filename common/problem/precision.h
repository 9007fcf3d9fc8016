// The names of precisions, as options, environment variables, traces and result files have them.
#pragma once

#include <array>
#include <string>

#include "duogemm/sgemm.hpp"
#include "system/reject.h"

namespace duogemm {

inline constexpr std::array precisions = {Precision::fp32, Precision::bf16x6, Precision::f16x3};

inline const char* to_text(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::bf16x6:
      return "bf16x6";
    case Precision::f16x3:
      return "f16x3";
  }
  return "?";
}

// Products of split terms on tensor cores for each product of two numbers; 0 without such terms.
inline constexpr int products_of(Precision precision) {
  return precision == Precision::bf16x6 ? 6 : precision == Precision::f16x3 ? 3 : 0;
}

// Throws invalid_argument that names the allowed ones; `what` is what has the name.
inline Precision parse_precision(const std::string& what, const std::string& name) {
  std::string allowed;
  for (const Precision precision : precisions) {
    if (name == to_text(precision)) {
      return precision;
    }
    allowed += (allowed.empty() ? "" : precision == precisions.back() ? " or " : ", ");
    allowed += to_text(precision);
  }
  reject(what + " is '" + name + "'; it must be " + allowed);
}

}  // namespace duogemm
