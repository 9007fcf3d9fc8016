#include "check/guarded_operands.h"

#include <algorithm>

#include "problem/rounding.h"

namespace duogemm {
namespace {

constexpr std::int64_t least_guard = 1024;             // elements
constexpr std::int64_t piece = std::int64_t{1} << 22;  // elements

// Elements to which the beginning of a slice must be aligned; a power of two, at least 256 bytes, so that no
// array is better aligned than another.
std::int64_t alignment(const DeviceInfo& info) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(info.slice_alignment / sizeof(float)), 64);
}

std::int64_t guard_elements(const DeviceInfo& info) { return round_up(least_guard, alignment(info)); }

std::int64_t pitch_elements(std::int64_t length, const DeviceInfo& info) {
  return round_up(length + guard_elements(info), alignment(info));
}

std::size_t to_bytes(std::int64_t elements) { return sizeof(float) * static_cast<std::size_t>(elements); }

// The tags of the bands; 1 to 3 are those of NaNs within matrices (see inputs.h).
enum Tag : std::uint32_t { around_a = 4, around_b, around_c };

Content content_of(const std::vector<float>& array) {
  return [&array](std::int64_t first, std::span<float> to) {
    std::copy_n(array.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
  };
}

std::int64_t length_of(const std::vector<float>& array) { return static_cast<std::int64_t>(array.size()); }

}  // namespace

std::size_t GuardedArray::bytes(std::int64_t length, std::size_t count, const DeviceInfo& info) {
  return to_bytes(guard_elements(info) + static_cast<std::int64_t>(count) * pitch_elements(length, info));
}

std::size_t GuardedArray::host_bytes() { return 2 * to_bytes(piece); }

GuardedArray::GuardedArray(std::int64_t length, Content content, std::size_t count, std::uint32_t tag,
                           Device& device, Queue& queue, Guards guards)
    : length_(length),
      guard_(guards == Guards::bands ? guard_elements(device.info()) : 0),
      pitch_(guards == Guards::bands ? pitch_elements(length, device.info())
                                     : round_up(length, count > 1 ? alignment(device.info()) : 1)),
      content_(std::move(content)),
      tag_(tag) {
  if (length == 0) {
    return;
  }
  const std::int64_t end = guard_ + static_cast<std::int64_t>(count) * pitch_;
  whole_ = device.allocate(to_bytes(end));
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    arrays_.push_back(whole_->slice(to_bytes(guard_ + i * pitch_), to_bytes(length)));
  }
  fill(0, end, queue);
}

void GuardedArray::restore(Queue& queue) {
  if (whole_) {
    fill(0, guard_ + pitch_, queue);
  }
}

void GuardedArray::look(Queue& queue, const std::function<void(const Piece&)>& at) const {
  const std::int64_t end = whole_ ? guard_ + pitch_ : 0;
  std::vector<float> found(static_cast<std::size_t>(std::min(piece, end)));
  std::vector<float> filled(found.size());
  for (std::int64_t from = 0; from < end; from += piece) {
    const std::int64_t count = std::min(piece, end - from);
    const std::span<float> now(found.data(), static_cast<std::size_t>(count));
    const std::span<float> before(filled.data(), now.size());
    queue.read(*whole_->slice(to_bytes(from), now.size_bytes()), now.data(), now.size_bytes());
    content(from, before);
    at({from - guard_, now, before});
  }
}

void GuardedArray::fill(std::int64_t from, std::int64_t to, Queue& queue) const {
  std::vector<float> staging(static_cast<std::size_t>(std::min(piece, to - from)));
  for (; from < to; from += piece) {
    const std::span<float> part(staging.data(), static_cast<std::size_t>(std::min(piece, to - from)));
    content(from, part);
    queue.write(*whole_->slice(to_bytes(from), part.size_bytes()), part.data(), part.size_bytes());
  }
}

void GuardedArray::content(std::int64_t from, std::span<float> to) const {
  for (std::size_t i = 0; i < to.size(); ++i) {
    to[i] = tagged_nan(tag_, static_cast<std::size_t>(from) + i);
  }
  const std::int64_t end = from + static_cast<std::int64_t>(to.size());
  for (std::int64_t begin = guard_ + std::max<std::int64_t>(from - guard_, 0) / pitch_ * pitch_; begin < end;
       begin += pitch_) {
    const std::int64_t first = std::max(begin, from);
    const std::int64_t last = std::min(begin + length_, end);
    if (first < last) {
      content_(first - begin,
               to.subspan(static_cast<std::size_t>(first - from), static_cast<std::size_t>(last - first)));
    }
  }
}

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
