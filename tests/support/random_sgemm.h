// A random multiplication of any kind, and the judgement of what some entry point made of it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "duogemm/sgemm.hpp"

namespace duogemm::testing {

// Matrices of a batch within one array, with more around them.
struct Batch {
  std::vector<float> array;
  std::size_t begin;  // of the first
  std::int64_t stride;
  std::size_t length;  // of one

  const float* data() const { return array.data() + begin; }
  float* data() { return array.data() + begin; }
  // For calls that take a batch as a list: where each matrix begins, from `base` on.
  template <typename Base>
  std::vector<Base> list(Base base, std::int64_t count) const {
    std::vector<Base> places;
    for (std::int64_t i = 0; i < count; ++i) {
      places.push_back(base + i * stride);
    }
    return places;
  }
  std::span<const float> member(std::int64_t i) const {
    return std::span(array).subspan(begin + static_cast<std::size_t>(i * stride), length);
  }
};

// Draws a problem from the seed: sizes from 0, layouts, transposes, leading dimensions, places that are not
// aligned, batches, scalars with NaN among them. Calls `multiply`, which is to change c, and expects the
// same bits twice, at the level `everywhere` the right ones, otherwise a result within the bound, nothing
// changed outside the results, and A and B as they were. A failure names the seed.
void check_random_sgemm(
    std::uint32_t seed,
    const std::function<void(const Sgemm&, const Batch& a, const Batch& b, Batch& c)>& multiply);

}  // namespace duogemm::testing
