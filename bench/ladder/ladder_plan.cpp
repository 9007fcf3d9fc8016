#include <algorithm>
#include <limits>

#include "families/plan.h"
#include "ladder/ladder.h"
#include "plan/lower.h"
#include "problem/rounding.h"
#include "system/reject.h"

namespace duogemm {
namespace {

// A and B are padded with these: their product is -0, which changes no sum (see pad.cl).
constexpr float a_fill = -0.0f;
constexpr float b_fill = 0.0f;

// The rungs' 32-bit indices reach no more.
constexpr std::int64_t most_elements = std::numeric_limits<std::int32_t>::max();

// A matrix as it lies in a buffer, column-major.
struct Matrix {
  Operand operand;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t ld;
};

std::int32_t i32(std::int64_t value) { return static_cast<std::int32_t>(value); }

void check_index(std::int64_t rows, std::int64_t cols) {
  if (rows > most_elements || cols > most_elements || rows * cols > most_elements) {
    reject("a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
           " elements (as padded); the ladder's indices are 32-bit and allow " +
           std::to_string(most_elements) + " elements");
  }
}

class LadderPlanner {
 public:
  LadderPlanner(const Rung& rung, const Tunables& tunables, const Problem& problem, const DeviceInfo& device)
      : rung_(rung), tunables_(tunables), problem_(problem), device_(device) {}

  Plan plan() {
    const Problem& p = problem_;
    const Multiples multiples = rung_.multiples(tunables_);
    const std::int64_t m = round_up(p.m, multiples.m);
    const std::int64_t n = round_up(p.n, multiples.n);
    const std::int64_t k = round_up(p.k, multiples.k);
    const bool a_transposed = p.a_op == Transpose::yes;
    const bool b_transposed = p.b_op == Transpose::yes;
    const Operand a = bring({operand_a, p.a_rows(), p.a_cols(), p.lda}, a_transposed, m, k, a_fill);
    const Matrix b_as_it_is{operand_b, p.b_rows(), p.b_cols(), p.ldb};
    const Operand b = rung_.transposed_b ? bring(b_as_it_is, !b_transposed, n, k, b_fill)
                                         : bring(b_as_it_is, b_transposed, k, n, b_fill);
    if (p.ldc != p.m || (!rung_.stores_any_size && (m != p.m || n != p.n))) {
      const Operand product = workspace(m, n);
      multiply_in_splits(m, n, k, 1.0f, a, b, 0.0f, product);
      check_index(p.ldc, p.n);
      support("unpad", p.m, p.n,
              {i32(p.m), i32(p.n), i32(m), p.alpha, product, p.beta, i32(p.ldc), operand_c});
    } else {
      multiply_in_splits(p.m, p.n, k, p.alpha, a, b, p.beta, operand_c);
    }
    return std::move(plan_);
  }

 private:
  // The matrix, transposed if so wanted, packed and padded to rows x cols: itself when it is that already.
  Operand bring(const Matrix& from, bool transposed, std::int64_t rows, std::int64_t cols, float fill) {
    const bool packed = from.ld == from.rows;
    if (!transposed && packed && from.rows == rows && from.cols == cols) {
      check_index(rows, cols);
      return from.operand;
    }
    const Operand to = workspace(rows, cols);
    const int block = supporting("transpose").tunables.at("BLOCK");
    const bool whole = packed && from.rows == cols && from.cols == rows;
    if (transposed && whole && rows % block == 0 && cols % block == 0) {
      support("transpose", from.rows, from.cols, {i32(from.rows), i32(from.cols), from.operand, to});
    } else {
      support(transposed ? "pad_transpose" : "pad", rows, cols,
              {i32(from.rows), i32(from.cols), i32(from.ld), from.operand, i32(rows), i32(cols), fill, to});
    }
    return to;
  }

  void multiply_in_splits(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, Operand a, Operand b,
                          float beta, Operand c) {
    const std::int64_t splits = rung_.splits(tunables_);
    if (splits == 1) {
      multiply(m, n, k, alpha, a, b, beta, c);
      return;
    }
    check_index(m, n);
    if (m * n > most_elements / splits) {
      throw Error(Status::unsupported, "64-bit indices for partial sums of " + std::to_string(m) + " x " +
                                           std::to_string(n) + " elements in " + std::to_string(splits) +
                                           " splits");
    }
    const Operand partial_sums = workspace(m, n * splits);
    multiply(m, n, k, 1.0f, a, b, 0.0f, partial_sums);
    const Variant& kernel = reduce_program(m * n, 1);
    // A work-item adds up one element. Where a launch cannot have that many, each takes some rows.
    const auto groups = [&](std::int64_t rows) { return kernel.spec->geometry(rows, n, kernel.tunables); };
    const std::int64_t launches = ceil_div(static_cast<std::int64_t>(groups(m).groups[0]),
                                           static_cast<std::int64_t>(device_.max_groups[0]));
    const std::int64_t height = ceil_div(m, launches);
    for (std::int64_t row = 0; row < m; row += height) {
      ReduceArguments sizes{};
      sizes.M = std::min(height, m - row);
      sizes.N = n;
      sizes.splits = splits;
      sizes.p_offset = row;
      sizes.ldp = m;
      sizes.batch = 1;
      sizes.alpha = alpha;
      sizes.beta = beta;
      sizes.c = sizes.d = {row, m, 0};
      // It need not be there where it is not read.
      add(kernel, groups(sizes.M),
          {struct_argument(sizes, {}), partial_sums, beta == 0.0f ? operand_none : c, c});
    }
  }

  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, Operand a, Operand b, float beta,
                Operand c) {
    check_index(m, n);
    plan_.multiply = plan_.steps.size();
    const Geometry geometry = rung_.geometry(m, n, tunables_);
    // A column-major product is the row-major product of the swapped operands, in the same memory.
    if (rung_.row_major) {
      std::swap(a, b);
      std::swap(m, n);
    }
    add(variant_of(rung_, tunables_), geometry, {i32(m), i32(n), i32(k), alpha, a, b, beta, c});
  }

  void support(const char* name, std::int64_t rows, std::int64_t cols, std::vector<StepArgument> arguments) {
    const Variant& kernel = supporting(name);
    add(kernel, kernel.spec->geometry(rows, cols, kernel.tunables), std::move(arguments));
  }

  // In work-groups of one work-item where they cannot be larger.
  const Variant& supporting(const char* name) const {
    const KernelSpec& spec = any_kernel(name);
    const Variant& kernel = variant_of(spec, resolve(spec, {}));
    return unsupported_reason(kernel, device_) ? variant_of(spec, resolve(spec, {{"BLOCK", 1}})) : kernel;
  }

  void add(const Variant& kernel, Geometry geometry, std::vector<StepArgument> arguments) {
    geometry.cores = device_.compute_units;
    add_step(plan_, kernel, geometry, std::move(arguments), device_);
  }

  Operand workspace(std::int64_t rows, std::int64_t cols) {
    check_index(rows, cols);
    plan_.workspace_bytes.push_back(sizeof(float) * static_cast<std::size_t>(rows * cols));
    return {first_workspace + static_cast<int>(plan_.workspace_bytes.size()) - 1};
  }

  const Rung& rung_;
  const Tunables& tunables_;
  const Problem& problem_;
  const DeviceInfo& device_;
  Plan plan_;
};

}  // namespace

Plan plan_ladder(const Rung& rung, const Tunables& tunables, const Problem& problem,
                 const DeviceInfo& device) {
  validate(problem);
  if (problem.m < 1 || problem.n < 1 || problem.k < 1 || problem.batch != 1) {
    reject("the ladder multiplies one pair of matrices with m, n and k of at least 1");
  }
  if (!problem.multiplies()) {
    return plan_sgemm(problem, device);  // nothing for a rung to do
  }
  return LadderPlanner(rung, tunables, problem, device).plan();
}

}  // namespace duogemm
