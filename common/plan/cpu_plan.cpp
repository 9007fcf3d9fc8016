#include "plan/cpu_plan.h"

#include <algorithm>
#include <utility>

#include "families/gemm_parts.h"
#include "plan/cpu_tiling.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

// C's transpose: op(B)' op(A)'.
Problem swapped(Problem p) {
  const auto other = [](Transpose op) { return op == Transpose::no ? Transpose::yes : Transpose::no; };
  std::swap(p.m, p.n);
  p.a_op = other(std::exchange(p.b_op, other(p.a_op)));
  std::swap(p.lda, p.ldb);
  std::swap(p.a_stride, p.b_stride);
  return p;
}

// The widest block of columns that is not mostly empty.
int fitting_columns(int cols, std::int64_t n) {
  while (cols % 2 == 0 && cols / 2 >= n) {
    cols /= 2;
  }
  return cols;
}

// The widest vectors of which one fits.
int fitting_width(int width, std::int64_t m) {
  while (width > 4 && width > m) {
    width /= 2;
  }
  return width;
}

// Vectors stand along the longer side of a C that is narrower than a vector.
bool by_rows(const Problem& problem, const Tunables& tunables) {
  return problem.m < problem.n && problem.m < tunables.at("WIDTH");
}

}  // namespace

const Variant& cpu_variant(const ScheduleRequest& request, const Problem& problem) {
  const KernelSpec& spec = *request.spec;
  Tunables set = resolve(spec, request.tunables);
  const Problem given = vectors_along_k(problem);
  const bool rows = by_rows(given, set);
  const Problem p = rows ? swapped(given) : given;
  set["ROWS_C"] = rows;
  set["COLS"] = fitting_columns(set["COLS"], p.n);
  if (spec.name == "cpu_direct") {
    set["WIDTH"] = fitting_width(set["WIDTH"], p.m);
    if (p.a_op == Transpose::yes) {
      set["WIDTH"] =
          4;  // as many rows as are transposed at once, and enough chains of sums to fill the pipeline
      set["VECTORS"] = 4;
    }
  }
  return variant_of(spec, resolve_for(spec, std::move(set), p));
}

ScheduleRequest choose_on_cpu(const Problem& problem, const DeviceInfo& device) {
  const Problem given = vectors_along_k(problem);
  const Tunables registers = cpu_registers(device);
  const KernelSpec& dots = find_kernel("cpu_dots");
  // To add up a vector's elements takes as long as several of its multiply-adds.
  const std::int64_t shortest = 4 * registers.at("WIDTH");
  if (given.level == Reproducibility::run_to_run && dots.gemm->storage(given) >= 0 && given.k >= shortest) {
    return {&dots, {{"WIDTH", registers.at("WIDTH")}}};
  }
  const Problem p = by_rows(given, registers) ? swapped(given) : given;
  return cpu_reads_in_place(p, device) ? ScheduleRequest{&find_kernel("cpu_direct"), registers}
                                       : ScheduleRequest{&find_kernel("cpu_panels"), cpu_blocks(device)};
}

Plan lower_on_cpu(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) {
  const Variant& kernel = *schedule.kernel;
  const Problem given = vectors_along_k(problem);
  const bool rows = kernel.tunables.at("ROWS_C") == 1;
  const Problem p = rows ? swapped(given) : given;
  const CpuTile tile = cpu_tile(p, kernel.tunables, device);
  const auto groups = static_cast<std::size_t>(ceil_div(p.m, tile.m) * ceil_div(p.n, tile.n));
  const std::size_t members = std::min(static_cast<std::size_t>(p.batch), device.max_groups[1]);
  GemmArguments sizes = sizes_of(p);
  sizes.tile_m = tile.m;
  sizes.tile_n = tile.n;
  Plan plan;
  plan.scalars = {problem.alpha, problem.beta};
  add_step(plan, kernel, {{groups, members, 1}, {1, 1, 1}},
           gemm_arguments(sizes, rows ? matrix_b(given) : matrix_a(given), rows ? matrix_a(given) : matrix_b(given),
                          matrix_c(given), matrix_d(given), Factors::of_call),
           device);
  return plan;
}

}  // namespace duogemm
