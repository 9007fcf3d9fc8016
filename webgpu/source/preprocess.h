// From a kernel's text to its tokens, with the tunables as macros.
#pragma once

#include <string>
#include <vector>

#include "families/kernel_source.h"
#include "source/syntax.h"

namespace duogemm::webgpu {

struct Token {
  enum class Kind { name, number, sign, unroll, end };
  Kind kind;
  std::string text;  // of `#pragma unroll 8` "8"
  Position at;
};

// The text is complete (see kernel_text): files that it includes stand in it. The last token is an end.
// Throws build_failed with file and line, and unsupported for an operation that compat/ says WebGPU lacks.
std::vector<Token> preprocess(const std::string& text, const Tunables& tunables);

}  // namespace duogemm::webgpu
