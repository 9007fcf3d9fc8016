// Tests look at the files of a directory, and change them.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace duogemm::testing {

// Lists the directory; nothing when there is no such directory.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    files.push_back(entry.path());
  }
  return files;
}

inline std::string contents_of(const std::filesystem::path& file) {
  std::ostringstream contents;
  contents << std::ifstream(file, std::ios::binary).rdbuf();
  return contents.str();
}

inline void overwrite(const std::filesystem::path& file, const std::string& contents) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << contents;
}

// Copies the folders `kernels` and `compat` of `source` to `directory`, and plants a mistake there: the first
// `from` in `file` becomes `to`. Throws when `file` has no `from`, since the test would then be of kernels
// without a mistake.
inline void plant_mistake(const std::filesystem::path& source, const std::filesystem::path& directory,
                          const std::string& file, const std::string& from, const std::string& to) {
  constexpr auto over =
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing;
  for (const char* folder : {"kernels", "compat"}) {
    std::filesystem::copy(source / folder, directory / folder, over);
  }
  std::string text = contents_of(directory / file);
  const std::size_t at = text.find(from);
  if (at == std::string::npos) {
    throw std::runtime_error(file + " has no \"" + from + "\" in which to plant a mistake");
  }
  overwrite(directory / file, text.replace(at, from.size(), to));
}

}  // namespace duogemm::testing
