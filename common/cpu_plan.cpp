#include "cpu_plan.h"

#include <algorithm>
#include <utility>

#include "cpu_tiling.h"
#include "rounding.h"

namespace duogemm {
namespace {

// C's transpose: op(B)' op(A)'.
Problem exchanged(Problem p) {
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

// All tunables: the choice's as far as they fit, and what the problem dictates. `rows`: whether C is stored
// by rows.
Tunables fitted(const Choice& choice, const Problem& p, bool rows) {
  const KernelSpec& spec = *choice.spec;
  Tunables set = settle(spec, choice.tunables);
  set["ROWS_C"] = rows;
  set["COLS"] = fitting_columns(set["COLS"], p.n);
  if (spec.name == "cpu_direct") {
    set["WIDTH"] = fitting_width(set["WIDTH"], p.m);
    if (p.a_op == Transpose::yes) {
      set["WIDTH"] = 4;  // as many rows as are turned at once, and enough chains of sums to fill the pipeline
      set["VECTORS"] = 4;
    }
  }
  return settle_for(spec, std::move(set), p);
}

}  // namespace

Problem vectors_along_k(Problem p) {
  if (p.m == 1 && p.lda == 1) {
    p.a_op = Transpose::yes;
  }
  if (p.n == 1 && p.ldb == 1) {
    p.b_op = Transpose::no;
  }
  return p;
}

Choice choose_on_cpu(const Problem& problem, const DeviceInfo& device) {
  const Problem given = vectors_along_k(problem);
  const Tunables registers = cpu_registers(device);
  const KernelSpec& dots = find_kernel("cpu_dots");
  // To add up a vector's elements takes as long as several of its multiply-adds.
  const std::int64_t shortest = 4 * registers.at("WIDTH");
  if (given.level == Reproducibility::run_to_run && dots.dictated(given) && given.k >= shortest) {
    return {&dots, {{"WIDTH", registers.at("WIDTH")}}};
  }
  const Problem p = by_rows(given, registers) ? exchanged(given) : given;
  return cpu_reads_in_place(p, device) ? Choice{&find_kernel("cpu_direct"), registers}
                                       : Choice{&find_kernel("cpu_panels"), cpu_blocks(device)};
}

Plan plan_on_cpu(const Choice& choice, const Problem& problem, const DeviceInfo& device) {
  const KernelSpec& spec = *choice.spec;
  if (choice.repacked) {
    throw Error(Status::invalid_argument, "repacked=1: kernel " + spec.name + " takes operands as they are");
  }
  const Problem given = vectors_along_k(problem);
  const bool rows = by_rows(given, settle(spec, choice.tunables));
  const Problem p = rows ? exchanged(given) : given;
  const Tunables tunables = fitted(choice, p, rows);
  const CpuTile tile = cpu_tile(p, tunables, device);
  const auto groups = static_cast<std::size_t>(ceil_div(p.m, tile.m) * ceil_div(p.n, tile.n));
  const std::size_t members = std::min(static_cast<std::size_t>(p.batch), device.max_groups[1]);
  std::vector<StepArgument> arguments =
      product_arguments(p, rows ? place_of_b : place_of_a, rows ? place_of_a : place_of_b, place_of_c);
  arguments.insert(arguments.end(), {tile.m, tile.n});
  Plan plan;
  add_step(plan, spec, tunables, {{groups, members, 1}, {1, 1, 1}}, std::move(arguments), device);
  return plan;
}

}  // namespace duogemm
