// A random multiplication of any kind, and the judgement of what some entry point made of it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "problem/element_type.h"

namespace duogemm::testing {

// Matrices of a batch within one array, with more around them.
struct Batch {
  std::vector<float> array;  // two elements in each where they have 16 bits
  std::size_t begin;         // of the first
  std::int64_t stride;
  std::size_t length;  // of one
  ElementType type;

  // Where a member begins in the array, or in a copy of it.
  template <typename Float>
  Float* member(Float* copy, std::int64_t i = 0) const {
    const std::int64_t element = static_cast<std::int64_t>(begin) + i * stride;
    return reinterpret_cast<Float*>(reinterpret_cast<std::uintptr_t>(copy) +
                                    static_cast<std::uintptr_t>(element) * bytes_of(type));
  }
  const float* data() const { return member(array.data()); }
  float* data() { return member(array.data()); }
  // For calls that take a batch as a list: where each matrix begins.
  template <typename Float>
  std::vector<Float*> list(Float* copy, std::int64_t count) const {
    std::vector<Float*> places;
    for (std::int64_t i = 0; i < count; ++i) {
      places.push_back(member(copy, i));
    }
    return places;
  }
  // The same in elements from the first on.
  std::vector<std::int64_t> offsets(std::int64_t count) const {
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < count; ++i) {
      places.push_back(i * stride);
    }
    return places;
  }
  // What a matrix holds.
  std::vector<float> values(std::int64_t i) const;
};

// Draws a problem from the seed: sizes from 0, layouts, transposes, leading dimensions, places that are not
// aligned, batches, scalars with NaN among them. Calls `multiply`, which is to change c, and expects the
// same bits twice, at the level `everywhere` the right ones, otherwise a result within the bound, nothing
// changed outside the results, and A and B as they were. A failure names the seed.
void check_random_sgemm(
    std::uint32_t seed,
    const std::function<void(const Sgemm&, const Batch& a, const Batch& b, Batch& c)>& multiply);

// The same with operands of 16-bit elements among them. A result of such has the owed bits, rounded.
void check_random_narrow_sgemm(
    std::uint32_t seed,
    const std::function<void(const Sgemm&, const Batch& a, const Batch& b, Batch& c)>& multiply);

}  // namespace duogemm::testing
