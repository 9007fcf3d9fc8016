// How much of a device's memory the library may take.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace duogemm {

// A number of bytes, at least 1: digits, with K, M or G behind them for powers of 1024 or without. Throws
// invalid_argument, which begins with `what`.
std::size_t parse_bytes(const std::string& text, const std::string& what);

// What the environment variable DUOGEMM_DEVICE_MEMORY says; nothing where it is not set, or empty. Throws as
// parse_bytes() does.
std::optional<std::size_t> device_memory_limit();

}  // namespace duogemm
