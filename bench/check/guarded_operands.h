// The matrices of a problem on a device between guard bands, in as many sets as a measurement needs.
#pragma once

#include <array>

#include "check/guarded_array.h"
#include "check/inputs.h"
#include "runtime/executor.h"

namespace duogemm {

// Elements of A, B and C from the first that is reached to the last.
struct Extents {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;

  static Extents of(const Problem& problem) {
    return {problem.a_extent(), problem.b_extent(), problem.c_extent()};
  }
  // Each is as large as the other's.
  bool hold(const Extents& other) const { return a >= other.a && b >= other.b && c >= other.c; }
};

// The larger of each.
Extents larger(const Extents& one, const Extents& other);

// Every set holds the same numbers.
class GuardedOperands {
 public:
  // The problem's matrices are in the host's memory, which must outlive this.
  GuardedOperands(const HostProblem& host, Device& device, Queue& queue, Guards guards = Guards::bands,
                  std::size_t count = 1);
  // A problem of any size, whose batch is strided, is made of test_data().
  GuardedOperands(const Problem& problem, std::size_t count, Device& device, Queue& queue);
  // Arrays of test_data() for any problem that fits.
  GuardedOperands(const Extents& extents, const Sequence& c, std::size_t count, Device& device, Queue& queue);

  // Buffers that begin with the matrices: one set after the other, and then the first again.
  PreparedPlan::Operands operands(std::size_t turn = 0) const;
  // The first set from an offset in its buffers, with the tables of a batch by offsets, and with alpha and
  // beta where these are in device memory: for kernels that take all that.
  PreparedPlan::Operands offset_operands() const;
  std::size_t count() const { return count_; }

  const GuardedArray& a() const { return a_; }
  const GuardedArray& b() const { return b_; }
  const GuardedArray& c() const { return c_; }
  // Puts the first set's C back, guard bands included.
  void restore_c(Queue& queue) { c_.restore(queue); }

 private:
  std::size_t count_;
  GuardedArray a_, b_, c_;
  std::array<std::unique_ptr<Buffer>, 3> tables_;
  std::array<std::unique_ptr<Buffer>, 2> factors_;
};

// Bytes of device memory for `count` sets, of all operands and of the largest.
struct OperandBytes {
  std::size_t total;
  std::size_t largest;
};
OperandBytes operand_bytes(const Extents& extents, std::size_t count, const DeviceInfo& info);
inline OperandBytes operand_bytes(const Problem& problem, std::size_t count, const DeviceInfo& info) {
  return operand_bytes(Extents::of(problem), count, info);
}

}  // namespace duogemm
