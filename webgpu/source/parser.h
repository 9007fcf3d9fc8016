// From the tokens of a kernel to its tree.
#pragma once

#include <vector>

#include "source/preprocess.h"
#include "source/syntax.h"

namespace duogemm::webgpu {

// Throws build_failed with file and line where the text leaves the dialect.
Program parse(const std::vector<Token>& tokens);

}  // namespace duogemm::webgpu
