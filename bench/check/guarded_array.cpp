#include "check/guarded_array.h"

#include <algorithm>

#include "check/inputs.h"
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

}  // namespace duogemm
