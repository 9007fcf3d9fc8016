#include "ladder/traffic.h"

#include "problem/rounding.h"
#include "rungs/rungs.h"

namespace duogemm::bench {
namespace {

std::int64_t part(std::int64_t size, std::size_t groups) {
  return ceil_div(size, static_cast<std::int64_t>(groups));
}

}  // namespace

Multiples tile_of(const Plan& plan, const Shape& problem) {
  const Step& step = plan.steps[plan.multiply];
  const Rung* rung = as_rung(*step.kernel->spec);
  if (!rung) {
    return step.kernel->tile;
  }
  const std::int64_t k = rung->multiples(step.kernel->tunables).k;
  const Extent& groups = step.geometry.groups;
  return {part(problem.m, groups[rung->row_major ? 1 : 0]), part(problem.n, groups[rung->row_major ? 0 : 1]),
          k};
}

double flops_per_byte(const Multiples& tile) {
  const auto m = static_cast<double>(tile.m);
  const auto n = static_cast<double>(tile.n);
  return 2.0 * m * n / (sizeof(float) * (m + n));
}

double bytes_of(const Shape& problem) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  return sizeof(float) * (m * k + k * n + m * n);
}

double flops_per_byte(const Shape& problem) { return problem.flops() / bytes_of(problem); }

}  // namespace duogemm::bench
