// Runs a plan on buffers that stand between guard bands, and looks at everything that it left behind.
#pragma once

#include <span>

#include "check/host_problem.h"
#include "check/oracle.h"
#include "runtime/executor.h"

namespace duogemm {

// What stands around a matrix in its buffer: a band of distinct NaNs on either side, or nothing, for a
// simulator that sees every access outside of a buffer.
enum class Guards { bands, none };

// A, B and C of a problem, the whole batch of each in a buffer, on a device. Those of no element have none.
class GuardedOperands {
 public:
  GuardedOperands(const HostProblem& host, Device& device, Queue& queue, Guards guards = Guards::bands);

  // Buffers that begin with the matrices.
  PreparedPlan::Operands operands() const;
  // The same matrices from an offset in their buffers, with the tables of a batch by offsets: for kernels
  // that take these.
  PreparedPlan::Operands offset_operands() const;
  // Puts the problem's C back, guard bands included.
  void reset_c(Queue& queue);
  // Compares C with the oracles of the batch's members, and everything else (gaps, guard bands, A and B) with
  // what it was before.
  Comparison compare(std::span<const Oracle> oracles, Queue& queue) const;
  Comparison compare(const Oracle& oracle, Queue& queue) const { return compare({&oracle, 1}, queue); }

 private:
  struct Guarded {
    std::vector<float> content;  // with its guard bands
    std::unique_ptr<Buffer> whole;
    std::unique_ptr<Buffer> matrix;
    std::unique_ptr<Buffer> table;
  };
  Guarded place(const std::vector<float>& matrix, const std::vector<std::int64_t>& places, std::uint32_t tag,
                Device& device, Queue& queue) const;
  // Compares what is left of a buffer with what it was.
  void compare_rest(const char* name, const Guarded& operand, std::span<const float> found,
                    Comparison& result) const;

  const Problem problem_;
  const std::vector<std::int64_t> c_places_;
  const std::size_t guard_;  // elements in a band
  Guarded a_;
  Guarded b_;
  Guarded c_;
};

// One for each member of the batch.
std::vector<Oracle> oracles_of(const HostProblem& host);

}  // namespace duogemm
