#include "problem/problem.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "problem/precision.h"

namespace duogemm {
namespace {

std::int64_t negated(std::int64_t value, std::int64_t modulus) { return (modulus - value) % modulus; }

// The smallest factor from 0 to `most` for which factor * step mod modulus is in [low, high]; nothing when
// there is none. As in Euclid's algorithm the modulus shrinks by at least a half. `most` * step is below
// 2^61, and so is what the steps below multiply.
std::optional<std::int64_t> first_within(std::int64_t step, std::int64_t modulus, std::int64_t low,
                                         std::int64_t high, std::int64_t most) {
  if (low == 0) {
    return 0;
  }
  if (step > modulus / 2) {  // backwards is shorter
    std::swap(low, high);
    low = modulus - low;
    high = modulus - high;
    step = modulus - step;
  }
  if (step == 0) {
    return std::nullopt;
  }
  const auto factor_for = [&](std::int64_t distance) { return (distance + step - 1) / step; };
  std::int64_t factor = factor_for(low);
  if (factor * step > high) {
    // Times around the modulus: their position relative to the steps is what the next call finds.
    const auto times = first_within(modulus % step, step, negated(high % step, step),
                                    negated(low % step, step), most * step / modulus);
    if (!times) {
      return std::nullopt;
    }
    factor = factor_for(low + *times * modulus);
  }
  return factor <= most ? std::optional(factor) : std::nullopt;
}

void require_at_least(const char* name, std::int64_t value, std::int64_t least) {
  if (value < least) {
    reject(std::string(name) + " is " + std::to_string(value) + "; it must be at least " +
           std::to_string(least));
  }
}

// A leading dimension is at least 1, also for a matrix without rows.
void require_leading_dimension(const char* name, std::int64_t value, std::int64_t rows) {
  require_at_least(name, value, std::max<std::int64_t>(rows, 1));
}

void require_sizes(const Problem& problem) {
  require_at_least("m", problem.m, 0);
  require_at_least("n", problem.n, 0);
  require_at_least("k", problem.k, 0);
}

void require_batch(const Problem& problem) {
  require_at_least("batch", problem.batch, 0);
  require_at_least("a_stride", problem.a_stride, 0);
  require_at_least("b_stride", problem.b_stride, 0);
  require_at_least("c_stride", problem.c_stride, problem.batch > 1 ? 1 : 0);
  require_at_least("the stride of the addend", problem.addend_stride, 0);
  require_at_least("the stride of the bias", problem.bias_stride, 0);
}

void require_addressable(const char* name, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                         std::int64_t stride, std::int64_t batch) {
  const double matrices = static_cast<double>(batch);
  const double extent = (matrices - 1) * static_cast<double>(stride) +
                        static_cast<double>(ld) * static_cast<double>(cols - 1) + static_cast<double>(rows);
  const double elements = matrices * static_cast<double>(rows) * static_cast<double>(cols);
  if (!is_countable(std::max(extent, elements))) {
    reject(std::string(name) + " reaches beyond 2^60 elements");
  }
}

// `swapped`: the caller's B is the problem's A.
void require_addressable(const Problem& p, bool swapped) {
  if (p.is_empty()) {
    return;
  }
  require_addressable("c", p.m, p.n, p.ldc, p.c_stride, p.batch);
  if (p.addend_apart) {
    require_addressable("the addend", p.m, p.addend_ld == 0 ? 1 : p.n, std::max(p.addend_ld, p.m),
                        p.addend_stride, p.batch);
  }
  if (p.bias) {
    require_addressable("the bias", p.m, 1, p.m, p.bias_stride, p.batch);
  }
  if (p.multiplies()) {
    require_addressable(swapped ? "b" : "a", p.a_rows(), p.a_cols(), p.lda, p.a_stride, p.members_of_a());
    require_addressable(swapped ? "a" : "b", p.b_rows(), p.b_cols(), p.ldb, p.b_stride, p.batch);
  }
}

// It is called after require_addressable().
void require_results_apart(const Problem& p) {
  if (!p.is_empty() && p.batch_by == BatchBy::strides &&
      members_overlap(p.m, p.n, p.ldc, p.c_stride, p.batch)) {
    reject("c_stride is " + std::to_string(p.c_stride) + ": the results of the batch would overlap");
  }
}

// Kernels number the tiles of groups, and where these begin, in 32 bits.
bool is_countable_in_tiles(std::int64_t columns, std::int64_t groups) {
  constexpr std::int64_t widest = 256;
  constexpr auto most = std::int64_t{std::numeric_limits<std::int32_t>::max()};
  return columns <= most && groups <= most / widest && columns + widest * groups <= most;
}

// Only sums in FP32 are the same everywhere.
void require_precision_of_level(const Problem& p) {
  if (p.level == Reproducibility::everywhere && p.precision != Precision::fp32) {
    reject(std::string("precision is ") + to_text(p.precision) + "; it must be fp32 at the level everywhere");
  }
}

}  // namespace

bool members_overlap(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride,
                     std::int64_t batch) {
  if (batch == 1) {
    return false;
  }
  const std::int64_t length = (cols - 1) * ld + rows;
  // That many members begin within the first one.
  const std::int64_t near = std::min(batch - 1, (length - 1) / stride);
  if (near == 0 || (stride >= rows && near * stride + rows <= ld)) {
    return false;
  }
  // The one after the first begins `offset` elements after the beginning of some column.
  const std::int64_t offset = stride % ld;
  if (offset < rows) {
    return true;
  }
  // A later one begins within a column of the first, or so near before one that it reaches into it.
  return first_within(offset, ld, ld - offset, ld - offset + rows - 1, near - 1).has_value() ||
         (rows > 1 && first_within(offset, ld, ld - rows + 1, ld - 1, near).has_value());
}

Problem Problem::packed(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, float beta) {
  return {{.m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .lda = m, .ldb = k, .ldc = m}};
}

void validate(const Problem& problem) {
  require_sizes(problem);
  require_leading_dimension("lda", problem.lda, problem.a_rows());
  require_leading_dimension("ldb", problem.ldb, problem.b_rows());
  require_leading_dimension("ldc", problem.ldc, problem.m);
  if (problem.addend_apart && problem.addend_ld != 0) {
    require_leading_dimension("the leading dimension of the addend", problem.addend_ld, problem.m);
  }
  require_batch(problem);
  require_addressable(problem, false);
  require_results_apart(problem);
  require_precision_of_level(problem);
}

void swap_operands(Sgemm& call) {
  call.layout = Layout::column_major;
  std::swap(call.a_op, call.b_op);
  std::swap(call.m, call.n);
  std::swap(call.lda, call.ldb);
  std::swap(call.a_stride, call.b_stride);
  std::swap(call.a_type, call.b_type);
}

namespace {

// `problem` is the call, without what means nothing.
ColumnMajor validated(Problem problem, const Sgemm& call) {
  require_sizes(problem);
  const bool by_rows = call.layout == Layout::row_major;
  // In the caller's own words: lengths of rows where matrices are stored by rows.
  require_leading_dimension("lda", call.lda, by_rows ? problem.a_cols() : problem.a_rows());
  require_leading_dimension("ldb", call.ldb, by_rows ? problem.b_cols() : problem.b_rows());
  require_leading_dimension("ldc", call.ldc, by_rows ? problem.n : problem.m);
  if (by_rows) {
    swap_operands(problem);
  }
  require_batch(problem);
  require_addressable(problem, by_rows);
  require_results_apart(problem);
  require_precision_of_level(problem);
  return {problem, by_rows};
}

}  // namespace

ColumnMajor to_column_major(const Sgemm& call, BatchBy batch_by) {
  Problem problem{call, batch_by};
  if (batch_by != BatchBy::strides) {  // valid ones, which mean nothing
    problem.a_stride = problem.b_stride = 0;
    problem.c_stride = 1;
  }
  return validated(problem, call);
}

ColumnMajor to_column_major(const Sgemm& call, CallBatch batch, BatchBy lists) {
  return batch == CallBatch::groups
             ? to_grouped_column_major(call)
             : to_column_major(call, batch == CallBatch::lists ? lists : BatchBy::strides);
}

ColumnMajor to_grouped_column_major(const Sgemm& call) {
  const bool by_rows = call.layout == Layout::row_major;
  const std::int64_t grouped = by_rows ? call.m : call.n;
  require_at_least("batch", call.batch, 0);
  if (!is_countable_in_tiles(grouped, call.batch)) {
    reject("the groups are " + std::to_string(call.batch) + " with " + std::to_string(grouped) +
           (by_rows ? " rows" : " columns") + " in all; with 256 more for each, these must be below 2^31");
  }
  Problem problem{call};
  problem.groups = call.batch;
  problem.batch = std::min<std::int64_t>(call.batch, 1);
  (by_rows ? problem.a_stride : problem.b_stride) = 0;
  problem.c_stride = 0;
  return validated(problem, call);
}

void require_pointers(const Problem& problem, const void* a, const void* b, const void* c) {
  const auto require = [](const char* name, const void* pointer) {
    if (pointer == nullptr) {
      reject(std::string(name) + " is null");
    }
  };
  require("c", c);
  if (problem.multiplies()) {
    require("a", a);
    require("b", b);
  }
}

}  // namespace duogemm
