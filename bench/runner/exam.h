// The exams by which results are judged.
#pragma once

#include "runner/trial.h"

namespace duogemm::bench {

// Every element is computed anew, and everything around is looked at: nothing that is wrong is missed.
class WholeExam final : public Exam {
 public:
  // from_offsets: the operands begin at offsets in their buffers, with tables and scalars in memory where the
  // problem has these.
  explicit WholeExam(HostProblem host, Guards guards = Guards::bands, bool from_offsets = false)
      : host_(std::move(host)), judge_(host_), guards_(guards), from_offsets_(from_offsets) {}
  // It takes this much of the machine's memory.
  static double host_bytes(const Problem& problem);

  std::unique_ptr<GuardedOperands> operands(std::size_t count, Device& device, Queue& queue) const override;
  PreparedPlan::Operands places(const GuardedOperands& operands) const override {
    return from_offsets_ ? operands.offset_operands() : operands.operands();
  }
  // Whoever has a result is timed, be it wrong.
  bool judge(const Entry& entry, const std::function<void()>& multiply, GuardedOperands& operands,
             Queue& queue, Row& row) override;

 private:
  const HostProblem host_;
  const Judge judge_;
  const Guards guards_;
  const bool from_offsets_;
};

// For problems of any size, of which some elements are computed anew. This library comes first: it must give
// the same bits twice, and whoever is not right, or has not the bits that it must have, is not timed.
class SampledExam final : public Exam {
 public:
  explicit SampledExam(const Problem& problem) : problem_(problem), judge_(problem) {}

  std::unique_ptr<GuardedOperands> operands(std::size_t count, Device& device, Queue& queue) const override;
  bool judge(const Entry& entry, const std::function<void()>& multiply, GuardedOperands& operands,
             Queue& queue, Row& row) override;

 private:
  bool judge_own(const std::function<void()>& multiply, GuardedOperands& operands, Queue& queue, Row& row);

  const Problem problem_;
  const Judge judge_;
  std::uint64_t own_bits_ = 0;
};

}  // namespace duogemm::bench
