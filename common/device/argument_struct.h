// The numbers of a kernel that takes them in one struct (PARAMETERS in compat/dialect.h).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "device/backend.h"

namespace duogemm {

// As NUMBERS_OF in compat/numbers.h declares it: first the numbers of 64 bits, then those of 32. Throws
// length_error when there are more than any kernel has.
class ArgumentStruct {
 public:
  explicit ArgumentStruct(std::span<const Argument> arguments);
  std::size_t size() const;
  const std::byte* data() const { return bytes_.data(); }

 private:
  template <typename Number>
  void append(std::span<const Argument> arguments);

  alignas(std::int64_t) std::array<std::byte, 256> bytes_ = {};
  std::size_t end_ = 0;
};

}  // namespace duogemm
