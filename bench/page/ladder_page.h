// The ladder as a page for browsers, which runs it by WebGPU: one file that needs no network.
#pragma once

#include <string>

#include "output/json.h"
#include "rungs/rungs.h"

namespace duogemm::bench {

// A setting of a rung with its shader, as webgpu/page/ladder.js launches it.
Json shader_json(const Rung& rung, const Tunables& tunables);

// The kernel that adds up the splits of a rung that has some, and those that measure a device.
Json supporting_shaders();

std::string ladder_page();

// The build embeds the files of webgpu/page/.
std::span<const EmbeddedFile> page_files();

}  // namespace duogemm::bench
