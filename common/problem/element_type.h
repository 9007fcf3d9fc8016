// Elements of operands: their sizes, and their names, as options, traces and result files have them.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "duogemm/sgemm.hpp"
#include "system/reject.h"

namespace duogemm {

inline constexpr std::array element_types = {ElementType::fp32, ElementType::bf16, ElementType::fp16};

inline const char* to_text(ElementType type) {
  switch (type) {
    case ElementType::fp32:
      return "fp32";
    case ElementType::bf16:
      return "bf16";
    case ElementType::fp16:
      return "fp16";
  }
  return "?";
}

inline constexpr std::size_t bytes_of(ElementType type) { return type == ElementType::fp32 ? 4 : 2; }

}  // namespace duogemm
