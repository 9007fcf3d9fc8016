// Numbers without end, of which any stretch can be had without the others: matrices of any size are filled,
// and judged, without a copy of them on the host.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace duogemm::bench {

class Sequence {
 public:
  // Uniform on (-1, 1).
  static Sequence random(std::uint32_t seed);
  // Quiet NaNs that tell by their payloads where they come from (see tagged_nan).
  static Sequence nans(std::uint32_t tag);

  float at(std::int64_t index) const { return numbers_[static_cast<std::size_t>(index % period)]; }
  // The stretch that begins at `first`.
  void copy(std::int64_t first, std::span<float> to) const;

 private:
  // A prime: no leading dimension meets the same numbers again and again.
  static constexpr std::int64_t period = 1048583;

  explicit Sequence(std::vector<float> numbers) : numbers_(std::move(numbers)) {}

  std::vector<float> numbers_;
};

// What the matrices of every measurement are made of, each array from its first element to its last.
struct TestData {
  Sequence a = Sequence::random(1);
  Sequence b = Sequence::random(2);
  Sequence c = Sequence::random(3);
  Sequence unread_c = Sequence::nans(3);  // where beta is zero
  Sequence guard = Sequence::nans(4);     // between arrays

  const Sequence& initial_c(float beta) const { return beta == 0.0f ? unread_c : c; }
};

const TestData& test_data();

}  // namespace duogemm::bench
