// The matrices of a problem on a device, in as many sets as a measurement needs.
#pragma once

#include "check/guarded_array.h"
#include "runtime/executor.h"

namespace duogemm::bench {

// Every set holds the same numbers, those of test_data().
class OperandSets {
 public:
  OperandSets(const Problem& problem, std::size_t count, Device& device, Queue& queue)
      : count_(count),
        a_(problem.a_extent(), test_data().a, count, device, queue),
        b_(problem.b_extent(), test_data().b, count, device, queue),
        c_(problem.c_extent(), test_data().initial_c(problem.beta), count, device, queue) {}

  // One set after the other, and then the first again.
  PreparedPlan::Operands operands(std::size_t turn) const {
    const std::size_t i = turn % count_;
    return {{{a_.array(i)}, {b_.array(i)}, {c_.array(i)}}};
  }
  std::size_t count() const { return count_; }

  const GuardedArray& a() const { return a_; }
  const GuardedArray& b() const { return b_; }
  const GuardedArray& c() const { return c_; }
  void restore_c(Queue& queue) { c_.restore(queue); }

 private:
  std::size_t count_;
  GuardedArray a_, b_, c_;
};

// Bytes of device memory for `count` sets, of all operands and of the largest.
struct OperandBytes {
  std::size_t total;
  std::size_t largest;
};
OperandBytes operand_bytes(const Problem& problem, std::size_t count, const DeviceInfo& info);

}  // namespace duogemm::bench
