// What results are judged by.
#pragma once

#include "runner/trial.h"

namespace duogemm::bench {

// Every element is computed anew, and everything around is looked at: nothing that is wrong is missed.
class WholeExam final : public Exam {
 public:
  explicit WholeExam(HostProblem host) : host_(std::move(host)), judge_(host_) {}
  // Of the machine's memory.
  static double host_bytes(const Problem& problem);

  std::unique_ptr<GuardedOperands> operands(std::size_t count, Device& device, Queue& queue) const override;
  // Whoever has a result is timed, be it wrong.
  bool judge(const Entry& entry, const std::function<void()>& multiply, GuardedOperands& operands,
             Queue& queue, Row& row) override;

 private:
  const HostProblem host_;
  const Judge judge_;
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
