#include "check/operand_sets.h"

#include <algorithm>

namespace duogemm::bench {

OperandBytes operand_bytes(const Problem& problem, std::size_t count, const DeviceInfo& info) {
  const std::size_t a = GuardedArray::bytes(problem.a_extent(), count, info);
  const std::size_t b = GuardedArray::bytes(problem.b_extent(), count, info);
  const std::size_t c = GuardedArray::bytes(problem.c_extent(), count, info);
  return {a + b + c, std::max({a, b, c})};
}

}  // namespace duogemm::bench
