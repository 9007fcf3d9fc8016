#include "plan/cpu_plan.h"

#include <algorithm>

#include "families/cpu.h"
#include "families/storage.h"
#include "problem/rounding.h"

namespace duogemm {

Plan lower_on_cpu(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) {
  const Variant& kernel = *schedule.kernel;
  const Problem given = vectors_along_k(problem);
  const bool rows = kernel.tunables.at("ROWS_C") == 1;
  const Problem p = rows ? transposed(given) : given;
  const CpuTile tile = cpu_tile(p, kernel.tunables, device);
  const auto groups = static_cast<std::size_t>(ceil_div(p.m, tile.m) * ceil_div(p.n, tile.n));
  const std::size_t members = std::min(static_cast<std::size_t>(p.batch), device.max_groups[1]);
  GemmArguments sizes = sizes_of(p);
  sizes.tile_m = tile.m;
  sizes.tile_n = tile.n;
  Plan plan;
  plan.scalars = {problem.alpha, problem.beta};
  add_step(plan, kernel, {{groups, members, 1}, {1, 1, 1}},
           gemm_arguments(sizes, rows ? matrix_b(given) : matrix_a(given),
                          rows ? matrix_a(given) : matrix_b(given), matrix_c(given), matrix_d(given),
                          Factors::of_call),
           device);
  return plan;
}

}  // namespace duogemm
