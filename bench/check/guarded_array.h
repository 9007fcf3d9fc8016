// Arrays in device memory between bands of NaNs, filled and read piece by piece.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "device/backend.h"

namespace duogemm {

// An array has a band of distinct NaNs on either side in its buffer, or nothing around it, for a simulator
// that sees every access outside of a buffer.
enum class Guards { bands, none };

// Copies an array's content from its element `first` on.
using Content = std::function<void(std::int64_t first, std::span<float> to)>;

class GuardedArray {
 public:
  // `count` arrays of `length` elements, each of them filled with `content`. The tag tells the bands from
  // those of other arrays (see tagged_nan). Arrays of no elements have no memory.
  GuardedArray(std::int64_t length, Content content, std::size_t count, std::uint32_t tag, Device& device,
               Queue& queue, Guards guards = Guards::bands);

  // Device memory for them, bands included.
  static std::size_t bytes(std::int64_t length, std::size_t count, const DeviceInfo& info);

  // Filling them, or looking at them, takes at most this of the machine's memory.
  static std::size_t host_bytes();

  // Null where there are no elements.
  const Buffer* array(std::size_t i) const { return arrays_.empty() ? nullptr : arrays_[i].get(); }
  // The buffer that all of them are in, and the first one's place there.
  const Buffer* whole() const { return whole_.get(); }
  std::int64_t begin() const { return guard_; }

  // Fills the first array again, and the bands around it.
  void restore(Queue& queue);

  // Shows one piece after the other of the first array and the bands around it. first: the place in the array
  // of the piece's first element, below 0 within the band before it.
  struct Piece {
    std::int64_t first;
    std::span<const float> found;
    std::span<const float> filled;  // what was there at the beginning
  };
  void look(Queue& queue, const std::function<void(const Piece&)>& at) const;

 private:
  void fill(std::int64_t from, std::int64_t to, Queue& queue) const;
  // Writes what is there at the beginning, from a place in the whole on.
  void content(std::int64_t from, std::span<float> to) const;

  std::int64_t length_;
  std::int64_t guard_;  // elements in a band
  std::int64_t pitch_;  // from the beginning of an array to that of the next
  Content content_;
  std::uint32_t tag_;
  std::unique_ptr<Buffer> whole_;
  std::vector<std::unique_ptr<Buffer>> arrays_;
};

}  // namespace duogemm
