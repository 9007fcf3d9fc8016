// Elements of operands: their sizes, and their names, as options, traces and result files have them.
#pragma once

#include <array>
#include <cstddef>

#include "duogemm/sgemm.hpp"

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

// Has 16 bits.
inline constexpr bool is_narrow(ElementType type) { return type != ElementType::fp32; }

inline constexpr std::size_t bytes_of(ElementType type) { return is_narrow(type) ? 2 : 4; }

}  // namespace duogemm
