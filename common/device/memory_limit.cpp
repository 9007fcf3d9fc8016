#include "device/memory_limit.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "system/reject.h"

namespace duogemm {

std::size_t parse_bytes(const std::string& text, const std::string& what) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, end);
  const std::size_t power = std::string_view("KMG").find(unit);
  const int shift = unit.empty() ? 0 : 10 * (static_cast<int>(power) + 1);
  const bool known = unit.empty() || (unit.size() == 1 && power != std::string_view::npos);
  if (error != std::errc() || !known || number == 0 || number > (UINT64_MAX >> 1 >> shift)) {
    reject(what + " '" + text +
           "': expected a number of bytes from 1 to 2^63 - 1, with K, M or G for powers of 1024 or without, "
           "such as 512M");
  }
  return static_cast<std::size_t>(number) << shift;
}

std::optional<std::size_t> device_memory_limit() {
  const char* const text = std::getenv("DUOGEMM_DEVICE_MEMORY");
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  return parse_bytes(text, "DUOGEMM_DEVICE_MEMORY");
}

}  // namespace duogemm
