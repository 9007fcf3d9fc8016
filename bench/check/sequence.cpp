#include "check/sequence.h"

#include <algorithm>

#include "check/host_problem.h"

namespace duogemm::bench {

Sequence Sequence::random(std::uint32_t seed) {
  return Sequence(random_problem(Problem::packed(period, 1, 1), Distribution::signed_unit, seed).a);
}

Sequence Sequence::nans(std::uint32_t tag) {
  std::vector<float> numbers(static_cast<std::size_t>(period));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = tagged_nan(tag, i);
  }
  return Sequence(std::move(numbers));
}

void Sequence::copy(std::int64_t first, std::span<float> to) const {
  std::size_t from = static_cast<std::size_t>(first % period);
  while (!to.empty()) {
    const std::size_t count = std::min(to.size(), numbers_.size() - from);
    std::copy_n(numbers_.begin() + static_cast<std::ptrdiff_t>(from), count, to.begin());
    to = to.subspan(count);
    from = 0;
  }
}

const TestData& test_data() {
  static const TestData data;
  return data;
}

}  // namespace duogemm::bench
