// The limit of the device memory that the library may take.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace duogemm {

// A number of bytes, at least 1: digits, which K, M or G for a power of 1024 may follow. Throws
// invalid_argument, which begins with `what`.
std::size_t parse_bytes(const std::string& text, const std::string& what);

// Answers what the environment variable DUOGEMM_DEVICE_MEMORY says; nothing where it is not set, or empty.
// Throws as parse_bytes() does.
std::optional<std::size_t> device_memory_limit();

}  // namespace duogemm
