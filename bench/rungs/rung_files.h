// The build embeds the files of kernels/ladder/ and kernels/support/.
#pragma once

#include "families/kernel_source.h"

namespace duogemm {

std::span<const EmbeddedFile> rung_files();

}  // namespace duogemm
