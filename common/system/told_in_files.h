// Lines and numbers of the small files by which Linux tells of itself.
#pragma once

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace duogemm {

inline std::string first_line(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// The number with which a text begins, if it is above 0: "200000 100000", or "32K".
inline std::optional<std::size_t> leading_number(const std::string& text) {
  std::size_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace duogemm
