// wgpu-native, opened when somebody first asks for its devices.
#pragma once

#include <string>

#include "runtime/wgpu_api.h"

namespace duogemm::webgpu {

struct WgpuLibrary {
  api::Functions functions = {};
  std::string version = {};  // "29.0.1.1"; empty where it is not here
  std::string absence = {};  // says why, and what to do about it
};

// The file is that of DUOGEMM_WGPU, or else one that the loader finds, or that of the Python on PATH.
const WgpuLibrary& wgpu_library();

}  // namespace duogemm::webgpu
