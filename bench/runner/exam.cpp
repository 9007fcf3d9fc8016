#include "runner/exam.h"

#include "support/format.h"

namespace duogemm::bench {

double WholeExam::host_bytes(const Problem& problem) { return judged_need(problem).host; }

std::unique_ptr<GuardedOperands> WholeExam::operands(std::size_t count, Device& device, Queue& queue) const {
  return std::make_unique<GuardedOperands>(host_, device, queue, guards_, count);
}

bool WholeExam::judge(const Entry& entry, const std::function<void()>& multiply, GuardedOperands& operands,
                      Queue& queue, Row& row) {
  operands.restore_c(queue);
  multiply();
  row.verdict = entry.library ? judge_.look_at_c(operands, queue) : judge_.look_at_all(operands, queue);
  return true;
}

std::unique_ptr<GuardedOperands> SampledExam::operands(std::size_t count, Device& device,
                                                       Queue& queue) const {
  return std::make_unique<GuardedOperands>(problem_, count, device, queue);
}

// Twice: the second time must give the same bits, whatever it finds in C and in workspaces.
bool SampledExam::judge_own(const std::function<void()>& multiply, GuardedOperands& operands, Queue& queue,
                            Row& row) {
  multiply();
  row.verdict = judge_.look_at_all(operands, queue);
  own_bits_ = row.verdict.fingerprint;
  if (problem_.beta != 0.0f) {
    operands.restore_c(queue);
  }
  multiply();
  row.repeatable = judge_.look_at_c(operands, queue).fingerprint == own_bits_;
  return row.verdict.ok() && row.repeatable;
}

bool SampledExam::judge(const Entry& entry, const std::function<void()>& multiply, GuardedOperands& operands,
                        Queue& queue, Row& row) {
  if (entry.is_own) {
    return judge_own(multiply, operands, queue, row);
  }
  operands.restore_c(queue);
  multiply();
  row.verdict = judge_.look_at_c(operands, queue);
  const bool is_whole = row.verdict.not_finite == 0 && row.verdict.overwritten == 0;
  if (entry.library->has_our_bits() && row.verdict.fingerprint != own_bits_) {
    row.missing = "its bits are not those of ours";
  } else if (!row.verdict.ok() && (entry.library->is_fp32_accurate() || !is_whole)) {
    row.missing = "its result is wrong: " + format("an error of %.3g bounds", row.verdict.worst_error) +
                  (row.verdict.first_fault.empty() ? "" : ", " + row.verdict.first_fault);
  }
  return row.missing.empty();
}

}  // namespace duogemm::bench
