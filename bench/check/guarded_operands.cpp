#include "check/guarded_operands.h"

#include <algorithm>

namespace duogemm {
namespace {

// The tags of the bands; 1 to 3 are those of NaNs within matrices (see inputs.h).
enum Tag : std::uint32_t { around_a = 4, around_b, around_c };

Content content_of(const std::vector<float>& array) {
  return [&array](std::int64_t first, std::span<float> to) {
    std::copy_n(array.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
  };
}

std::int64_t length_of(const std::vector<float>& array) { return static_cast<std::int64_t>(array.size()); }

}  // namespace

Extents larger(const Extents& one, const Extents& other) {
  return {std::max(one.a, other.a), std::max(one.b, other.b), std::max(one.c, other.c)};
}

GuardedOperands::GuardedOperands(const HostProblem& host, Device& device, Queue& queue, Guards guards,
                                 std::size_t count)
    : count_(count),
      a_(length_of(host.a), content_of(host.a), count, around_a, device, queue, guards),
      b_(length_of(host.b), content_of(host.b), count, around_b, device, queue, guards),
      c_(length_of(host.c), content_of(host.c), count, around_c, device, queue, guards) {
  const std::vector<std::int64_t>* places[] = {&host.a_places, &host.b_places, &host.c_places};
  const GuardedArray* arrays[] = {&a_, &b_, &c_};
  for (std::size_t i = 0; i < tables_.size() && host.problem.batch_by == BatchBy::offsets; ++i) {
    if (arrays[i]->whole()) {
      tables_[i] = device.allocate(places[i]->size() * sizeof(std::int64_t));
      queue.write(*tables_[i], places[i]->data(), tables_[i]->bytes());
    }
  }
  const float factors[] = {host.problem.alpha, host.problem.beta};
  for (std::size_t i = 0; i < factors_.size() && host.problem.device_scalars; ++i) {
    factors_[i] = device.allocate(sizeof(float));
    queue.write(*factors_[i], &factors[i], sizeof(float));
  }
}

GuardedOperands::GuardedOperands(const Problem& problem, std::size_t count, Device& device, Queue& queue)
    : GuardedOperands(Extents::of(problem), test_data().initial_c(problem.beta), count, device, queue) {}

GuardedOperands::GuardedOperands(const Extents& extents, const Sequence& c, std::size_t count, Device& device,
                                 Queue& queue)
    : count_(count),
      a_(extents.a, test_data().a.content(), count, around_a, device, queue),
      b_(extents.b, test_data().b.content(), count, around_b, device, queue),
      c_(extents.c, c.content(), count, around_c, device, queue) {}

PreparedPlan::Operands GuardedOperands::operands(std::size_t turn) const {
  const std::size_t i = turn % count_;
  return {{{a_.array(i)}, {b_.array(i)}, {c_.array(i)}}};
}

PreparedPlan::Operands GuardedOperands::offset_operands() const {
  PreparedPlan::Operands operands = {{{a_.whole(), a_.begin()},
                                      {b_.whole(), b_.begin()},
                                      {c_.whole(), c_.begin()},
                                      {tables_[0].get()},
                                      {tables_[1].get()},
                                      {tables_[2].get()}}};
  operands[static_cast<std::size_t>(operand_alpha.slot)] = {factors_[0].get()};
  operands[static_cast<std::size_t>(operand_beta.slot)] = {factors_[1].get()};
  return operands;
}

OperandBytes operand_bytes(const Extents& extents, std::size_t count, const DeviceInfo& info) {
  const std::size_t a = GuardedArray::bytes(extents.a, count, info);
  const std::size_t b = GuardedArray::bytes(extents.b, count, info);
  const std::size_t c = GuardedArray::bytes(extents.c, count, info);
  return {a + b + c, std::max({a, b, c})};
}

}  // namespace duogemm
