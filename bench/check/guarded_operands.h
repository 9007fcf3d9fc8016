// The matrices of a problem on a device between bands of NaNs, filled and read piece by piece, in as many
// sets as a measurement needs.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "check/inputs.h"
#include "runtime/executor.h"

namespace duogemm {

// An array has a band of distinct NaNs on either side in its buffer, or nothing around it, for a simulator
// that sees every access outside of a buffer.
enum class Guards { bands, none };

class GuardedArray {
 public:
  // `count` arrays of `length` elements, each of them filled with the numbers, which must outlive this, again
  // and again. The tag tells the bands from those of other arrays (see tagged_nan). Arrays of no elements
  // have no memory.
  GuardedArray(std::int64_t length, std::span<const float> numbers, std::size_t count, std::uint32_t tag,
               Device& device, Queue& queue, Guards guards = Guards::bands);

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
  std::span<const float> numbers_;
  std::uint32_t tag_;
  std::unique_ptr<Buffer> whole_;
  std::vector<std::unique_ptr<Buffer>> arrays_;
};

// Elements of A, B and C from the first that is reached to the last.
struct Extents {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;

  static Extents of(const Problem& problem) {
    return {problem.a_extent(), problem.b_extent(), problem.c_extent()};
  }
  // Each is as large as the other's.
  bool hold(const Extents& other) const { return a >= other.a && b >= other.b && c >= other.c; }
};

// The larger of each.
Extents larger(const Extents& one, const Extents& other);

// Every set holds the same numbers.
class GuardedOperands {
 public:
  // The problem's matrices are in the host's memory, which must outlive this.
  GuardedOperands(const HostProblem& host, Device& device, Queue& queue, Guards guards = Guards::bands,
                  std::size_t count = 1);
  // A problem of any size, whose batch is strided, is made of test_data().
  GuardedOperands(const Problem& problem, std::size_t count, Device& device, Queue& queue);
  // Arrays of test_data() for any problem that fits.
  GuardedOperands(const Extents& extents, const std::vector<float>& c, std::size_t count, Device& device,
                  Queue& queue);

  // Buffers that begin with the matrices: one set after the other, and then the first again.
  PreparedPlan::Operands operands(std::size_t turn = 0) const;
  // The first set from an offset in its buffers, with the tables of a batch by offsets, and with alpha and
  // beta where these are in device memory: for kernels that take all that.
  PreparedPlan::Operands offset_operands() const;
  std::size_t count() const { return count_; }

  const GuardedArray& a() const { return a_; }
  const GuardedArray& b() const { return b_; }
  const GuardedArray& c() const { return c_; }
  // Puts the first set's C back, guard bands included.
  void restore_c(Queue& queue) { c_.restore(queue); }

 private:
  std::size_t count_;
  GuardedArray a_, b_, c_;
  std::array<std::unique_ptr<Buffer>, 3> tables_;
  std::array<std::unique_ptr<Buffer>, 2> factors_;
};

// Bytes of device memory for `count` sets, of all operands and of the largest.
struct OperandBytes {
  std::size_t total;
  std::size_t largest;
};
OperandBytes operand_bytes(const Extents& extents, std::size_t count, const DeviceInfo& info);
inline OperandBytes operand_bytes(const Problem& problem, std::size_t count, const DeviceInfo& info) {
  return operand_bytes(Extents::of(problem), count, info);
}

}  // namespace duogemm
