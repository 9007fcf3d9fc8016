// A file's contents.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace duogemm {

// All of a regular file, through links; nothing where it cannot be read or is of another kind, such as a
// FIFO, of which a reader may wait forever.
std::optional<std::string> read_file(const std::filesystem::path& path);

// The same. Throws invalid_argument where there is nothing: "PATH: it is not a regular file".
std::string read_file_or_reject(const std::filesystem::path& path);

}  // namespace duogemm
