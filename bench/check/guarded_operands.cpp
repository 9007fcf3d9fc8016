#include "check/guarded_operands.h"

#include <algorithm>

#include "problem/rounding.h"

namespace duogemm {
namespace {

constexpr std::int64_t least_guard = 1024;             // elements
constexpr std::int64_t piece = std::int64_t{1} << 22;  // elements

// Arrays begin at these elements of a buffer.
struct ArrayPlaces {
  std::int64_t guard;  // of the first array, and so many in a band
  std::int64_t pitch;  // from the beginning of an array to that of the next
};

// The beginning of a slice is aligned to a power of two, at least 256 bytes, so that no array is better
// aligned than another.
ArrayPlaces places_of(std::int64_t length, std::size_t count, const DeviceInfo& info, Guards guards) {
  const auto needed = static_cast<std::int64_t>(info.slice_alignment / sizeof(float));
  const std::int64_t alignment = std::max<std::int64_t>(needed, 64);
  if (guards == Guards::none) {
    return {0, round_up(length, count > 1 ? alignment : 1)};
  }
  const std::int64_t guard = round_up(least_guard, alignment);
  return {guard, round_up(length + guard, alignment)};
}

std::size_t to_bytes(std::int64_t elements) { return sizeof(float) * static_cast<std::size_t>(elements); }

// The tags of the bands; 1 to 3 are those of NaNs within matrices (see inputs.h).
enum Tag : std::uint32_t { around_a = 4, around_b, around_c };

}  // namespace

std::size_t GuardedArray::bytes(std::int64_t length, std::size_t count, const DeviceInfo& info) {
  const ArrayPlaces places = places_of(length, count, info, Guards::bands);
  return to_bytes(places.guard + static_cast<std::int64_t>(count) * places.pitch);
}

std::size_t GuardedArray::host_bytes() { return 2 * to_bytes(piece); }

GuardedArray::GuardedArray(std::int64_t length, std::span<const float> numbers, std::size_t count,
                           std::uint32_t tag, Device& device, Queue& queue, Guards guards)
    : length_(length), numbers_(numbers), tag_(tag) {
  const ArrayPlaces places = places_of(length, count, device.info(), guards);
  guard_ = places.guard;
  pitch_ = places.pitch;
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
    const auto size = static_cast<std::int64_t>(numbers_.size());
    const std::int64_t last = std::min(begin + length_, end);
    for (std::int64_t at = std::max(begin, from); at < last;) {
      const std::int64_t number = (at - begin) % size;
      const std::int64_t some = std::min(last - at, size - number);
      std::copy_n(numbers_.begin() + number, some, to.begin() + (at - from));
      at += some;
    }
  }
}

Extents larger(const Extents& one, const Extents& other) {
  return {std::max(one.a, other.a), std::max(one.b, other.b), std::max(one.c, other.c)};
}

GuardedOperands::GuardedOperands(const HostProblem& host, Device& device, Queue& queue, Guards guards,
                                 std::size_t count)
    : count_(count),
      a_(std::ssize(host.a), host.a, count, around_a, device, queue, guards),
      b_(std::ssize(host.b), host.b, count, around_b, device, queue, guards),
      c_(std::ssize(host.c), host.c, count, around_c, device, queue, guards) {
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

GuardedOperands::GuardedOperands(const Extents& extents, const std::vector<float>& c, std::size_t count,
                                 Device& device, Queue& queue)
    : count_(count),
      a_(extents.a, test_data().a, count, around_a, device, queue),
      b_(extents.b, test_data().b, count, around_b, device, queue),
      c_(extents.c, c, count, around_c, device, queue) {}

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
