// Names of files as texts, which are UTF-8 whatever the system.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace duogemm {

// path::string() is the way back. A path's own constructor takes texts for the system's, which may be others.
inline std::filesystem::path path_of(std::string_view text) {
  return std::u8string(text.begin(), text.end());
}

}  // namespace duogemm
