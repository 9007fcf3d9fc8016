#include "problem/overlap.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace duogemm {
namespace {

std::int64_t negated(std::int64_t value, std::int64_t modulus) { return (modulus - value) % modulus; }

// The smallest factor from 0 to `most` for which factor * step mod modulus is in [low, high]; nothing when
// there is none. As in Euclid's algorithm the modulus shrinks by at least a half. `most` * step is below
// 2^61, and so is what the steps below multiply.
std::optional<std::int64_t> first_within(std::int64_t step, std::int64_t modulus, std::int64_t low,
                                         std::int64_t high, std::int64_t most) {
  if (low == 0) {
    return 0;
  }
  if (step > modulus / 2) {  // backwards is shorter
    std::swap(low, high);
    low = modulus - low;
    high = modulus - high;
    step = modulus - step;
  }
  if (step == 0) {
    return std::nullopt;
  }
  const auto factor_for = [&](std::int64_t distance) { return (distance + step - 1) / step; };
  std::int64_t factor = factor_for(low);
  if (factor * step > high) {
    // Every number of times around the modulus: its position relative to the steps is what the next call
    // finds.
    const auto times = first_within(modulus % step, step, negated(high % step, step),
                                    negated(low % step, step), most * step / modulus);
    if (!times) {
      return std::nullopt;
    }
    factor = factor_for(low + *times * modulus);
  }
  return factor <= most ? std::optional(factor) : std::nullopt;
}

}  // namespace

bool members_overlap(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride,
                     std::int64_t batch) {
  if (batch == 1) {
    return false;
  }
  const std::int64_t length = (cols - 1) * ld + rows;
  // That many members begin within the first one.
  const std::int64_t near = std::min(batch - 1, (length - 1) / stride);
  if (near == 0 || (stride >= rows && near * stride + rows <= ld)) {
    return false;
  }
  // The one after the first begins `offset` elements after the beginning of some column.
  const std::int64_t offset = stride % ld;
  if (offset < rows) {
    return true;
  }
  // A later one begins within a column of the first, or so near before one that it reaches into it.
  return first_within(offset, ld, ld - offset, ld - offset + rows - 1, near - 1).has_value() ||
         (rows > 1 && first_within(offset, ld, ld - rows + 1, ld - 1, near).has_value());
}

}  // namespace duogemm
