// The names of precisions and of levels, as options, environment variables, traces and result files have
// them.
#pragma once

#include <array>
#include <string>

#include "duogemm/sgemm.hpp"
#include "system/reject.h"

namespace duogemm {

inline constexpr std::array precisions = {Precision::fp32, Precision::bf16x6, Precision::f16x3};
inline constexpr std::array levels = {Reproducibility::run_to_run, Reproducibility::everywhere,
                                      Reproducibility::batch_invariant};

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

inline const char* to_text(Reproducibility level) {
  switch (level) {
    case Reproducibility::run_to_run:
      return "run_to_run";
    case Reproducibility::everywhere:
      return "everywhere";
    case Reproducibility::batch_invariant:
      return "batch_invariant";
  }
  return "?";
}

// Products of split terms on tensor cores for each product of two numbers; 0 without such terms.
inline constexpr int products_of(Precision precision) {
  return precision == Precision::bf16x6 ? 6 : precision == Precision::f16x3 ? 3 : 0;
}

// One of all by its name. Throws invalid_argument that names the allowed ones; `what` is what has the name.
template <typename Value, std::size_t count>
Value parse_name(const std::string& what, const std::string& name, const std::array<Value, count>& all) {
  std::string allowed;
  for (const Value value : all) {
    if (name == to_text(value)) {
      return value;
    }
    allowed += (allowed.empty() ? "" : value == all.back() ? " or " : ", ");
    allowed += to_text(value);
  }
  reject(what + " is '" + name + "'; it must be " + allowed);
}
inline Precision parse_precision(const std::string& what, const std::string& name) {
  return parse_name(what, name, precisions);
}
inline Reproducibility parse_level(const std::string& what, const std::string& name) {
  return parse_name(what, name, levels);
}

}  // namespace duogemm
