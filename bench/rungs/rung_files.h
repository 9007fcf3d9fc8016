// What the build embeds of kernels/ladder/ and kernels/support/.
#pragma once

#include "families/kernel_source.h"

namespace duogemm {

std::span<const EmbeddedFile> rung_files();

// See FindFatbin. Only where the build has CUDA.
std::span<const unsigned char> rung_fatbin(std::string_view kernel);

}  // namespace duogemm
