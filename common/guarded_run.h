// Runs a plan on buffers that stand between guard bands, and looks at everything that it left behind.
#pragma once

#include "executor.h"
#include "host_problem.h"
#include "oracle.h"

namespace duogemm {

// A, B and C of a problem on a device, each with a band of distinct NaNs before and behind it.
class GuardedOperands {
 public:
  GuardedOperands(const HostProblem& host, Device& device, Queue& queue);

  PreparedPlan::Operands operands() const;
  // Puts the problem's C back, guard bands included.
  void reset_c(Queue& queue);
  // Compares C with the oracle, and everything else (gaps, guard bands, A and B) with what it was before.
  Comparison compare(const Oracle& oracle, Queue& queue) const;

 private:
  struct Guarded {
    std::vector<float> content;  // with its guard bands
    std::unique_ptr<Buffer> whole;
    std::unique_ptr<Buffer> matrix;
  };
  Guarded place(const std::vector<float>& matrix, std::uint32_t tag, Device& device, Queue& queue) const;

  const Problem problem_;
  const std::size_t guard_;  // elements in a band
  Guarded a_;
  Guarded b_;
  Guarded c_;
};

}  // namespace duogemm
