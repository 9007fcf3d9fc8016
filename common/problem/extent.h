// Matrices and workspaces reach only so far that sizes and offsets are counted in 64-bit numbers of bytes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "duogemm/error.h"

namespace duogemm {

// The most elements that a matrix with its batch, or a workspace, may reach to: enough for any memory, and
// three of them still have bytes that can be counted.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 60;

// In double, which does not overflow and is exact enough.
inline bool is_countable(double elements) { return elements <= static_cast<double>(most_elements); }

// Tells why the product of sizes that are not negative, the elements of `what`, is not counted: out_of_memory
// beyond the most.
inline std::optional<Error> uncountable(const char* what, std::initializer_list<std::int64_t> sizes) {
  double estimate = 1.0;
  for (const std::int64_t size : sizes) {
    estimate *= static_cast<double>(size);
  }
  if (is_countable(estimate)) {
    return std::nullopt;
  }
  return Error(Status::out_of_memory, std::string(what) + " would reach beyond 2^60 elements");
}

// That product. Throws what uncountable() tells.
inline std::int64_t count_elements(const char* what, std::initializer_list<std::int64_t> sizes) {
  if (const auto error = uncountable(what, sizes)) {
    throw *error;
  }
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    product *= size;
  }
  return product;
}

}  // namespace duogemm
