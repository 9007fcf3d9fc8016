#include "runner/row.h"

#include <cmath>

namespace duogemm::bench {

std::optional<double> ratio(const Row& one, const Row& other) {
  if (one.samples.seconds.empty() || other.samples.seconds.empty()) {
    return std::nullopt;
  }
  return other.samples.median() / one.samples.median();
}

void Ratios::add(const std::string& label, double ratio) {
  if (++count == 1 || ratio < worst) {
    worst = ratio;
    worst_label = label;
  }
  logarithms += std::log(ratio);
  below_1 += ratio < 1.0;
  below_095 += ratio < 0.95;
}

double Ratios::mean() const { return count == 0 ? 1.0 : std::exp(logarithms / static_cast<double>(count)); }

}  // namespace duogemm::bench
