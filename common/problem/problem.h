// One matrix multiplication as the rest of common/ sees it: C <- alpha op(A) op(B) + beta C, column-major.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "duogemm/error.h"
#include "duogemm/sgemm.hpp"
#include "problem/element_type.h"
#include "problem/rounding.h"

namespace duogemm {

// Where bits may not depend on the size, k is split in FP32 at multiples of this. On an H200 half of it
// takes 1.3 percent longer for squares from 2560 on.
inline constexpr std::int64_t everywhere_split = 4096;

// The members of a batch are found a stride apart, or by tables of 64-bit numbers in device memory:
// offsets in elements, or addresses.
enum class BatchBy { strides, offsets, addresses };

// What is asked for, stored by columns, and what a call adds to it.
struct Problem : Sgemm {
  BatchBy batch_by = BatchBy::strides;
  // Of a grouped product, into how many groups consecutive columns of B and C are cut, by ends in device
  // memory; a member of A is for each. The batch is 1 then. 0: no grouped product.
  std::int64_t groups = 0;
  // The matrix that beta is a factor of may be apart from C, which is only written then. It has a leading
  // dimension and a stride of its own; a leading dimension of 0 repeats one column, such as a bias.
  bool addend_apart = false;
  std::int64_t addend_ld = 0;
  std::int64_t addend_stride = 0;
  // C <- activation(C + bias) follows, where the members of the bias are bias_stride apart.
  bool bias = false;
  std::int64_t bias_stride = 0;
  Activation activation = Activation::none;
  // alpha and beta may be in device memory, to be read when the commands run. Here they are 1 then.
  bool device_scalars = false;
  // For want of memory, nothing may be kept between the steps.
  bool no_workspace = false;
  // Where the precision is another than FP32, one of the operands may have been split into terms before, by
  // the plan of a preparation (families/tensor.h).
  bool a_prepared = false;
  bool b_prepared = false;
  // The first element of the first matrix stands at a multiple of 16 bytes.
  bool a_aligned = true;
  bool b_aligned = true;
  bool c_aligned = true;
  // Columns as stored may be read, or those of C written, up to the next multiple of 4 elements.
  bool a_padded = false;
  bool b_padded = false;
  bool c_padded = false;

  bool is_grouped() const { return groups > 0; }
  // How many matrices A there are, a stride of which is 0 if they are all the same.
  std::int64_t members_of_a() const { return is_grouped() ? groups : batch; }

  // A and B take no part when alpha or k is zero.
  bool multiplies() const { return alpha != 0.0f && k != 0; }
  // A step follows that makes C of the sum.
  bool finishes() const { return bias || activation != Activation::none || keeps_sum(); }
  // That step gets the sum in a workspace, without the factors: they are not known yet, or C has fewer bits.
  bool keeps_sum() const { return device_scalars || is_narrow(c_type); }
  bool is_empty() const {
    return m == 0 || n == 0 || batch == 0 || (!multiplies() && beta == 1.0f && !addend_apart && !finishes());
  }

  // An element's bits may depend on neither m, n nor the batch.
  bool is_invariant() const { return level != Reproducibility::run_to_run; }
  // Tensor cores multiply what may be multiplied so, whatever is faster. k is not split.
  bool owes_terms() const {
    return level == Reproducibility::batch_invariant && precision != Precision::fp32;
  }

  // Each split of k is one chain in ascending k.
  bool owes_chains() const { return is_invariant() && !owes_terms(); }

  // The splits of k that the level asks for, which are added up in ascending order: 1 where a sum is one
  // chain, or may be split as is fastest.
  std::int64_t owed_splits() const {
    return owes_chains() ? std::max<std::int64_t>(ceil_div(k, everywhere_split), 1) : 1;
  }

  // Sums over splits can be kept in C: there is no more to it.
  bool sums_in_c() const { return alpha == 1.0f && beta == 0.0f; }

  // Floating-point operations of the products; a multiply-add counts as two.
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
           static_cast<double>(batch);
  }

  std::int64_t a_rows() const { return a_op == Transpose::no ? m : k; }
  std::int64_t a_cols() const { return a_op == Transpose::no ? k : m; }
  std::int64_t b_rows() const { return b_op == Transpose::no ? k : n; }
  std::int64_t b_cols() const { return b_op == Transpose::no ? n : k; }
  std::int64_t a_elements() const { return lda * a_cols(); }
  std::int64_t b_elements() const { return ldb * b_cols(); }
  std::int64_t c_elements() const { return ldc * n; }

  // From the first element of the first matrix of a batch to the last of the last.
  std::int64_t a_extent() const { return extent(a_rows(), a_cols(), lda, a_stride, members_of_a()); }
  std::int64_t b_extent() const { return extent(b_rows(), b_cols(), ldb, b_stride, batch); }
  std::int64_t c_extent() const { return extent(m, n, ldc, c_stride, batch); }

  // No transposes, leading dimensions as small as they can be.
  static Problem packed(std::int64_t m, std::int64_t n, std::int64_t k, float alpha = 1.0f,
                        float beta = 0.0f);

 private:
  static std::int64_t extent(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride,
                             std::int64_t members) {
    return members == 0 || rows == 0 || cols == 0 ? 0 : (members - 1) * stride + ld * (cols - 1) + rows;
  }
};

// Throws invalid_argument that names the first wrong member and what is allowed.
void validate(const Problem& problem);

// Validates what a user asks for. A row-major product becomes the column-major one of the swapped operands:
// `swapped` tells that the caller's B is the problem's A. The strides of a batch whose members are listed
// one by one mean nothing and are not looked at.
struct ColumnMajor {
  Problem problem;
  bool swapped;
};
ColumnMajor to_column_major(const Sgemm& call, BatchBy batch_by = BatchBy::strides);

// The same of a grouped product, where the batch is the groups: of consecutive rows of A and C, or columns of
// B and C where matrices are stored by columns. The strides of those two do not count.
ColumnMajor to_grouped_column_major(const Sgemm& call);

// A call finds the members of a batch in one of these ways, or they are groups of a grouped product. What its
// lists hold is the runtime's: offsets or addresses.
enum class CallBatch { strides, lists, groups };
ColumnMajor to_column_major(const Sgemm& call, CallBatch batch, BatchBy lists);

// Makes a row-major product the column-major one of the swapped operands.
void swap_operands(Sgemm& call);

// The call that asks for a problem: column-major, of strided batches.
inline Sgemm request_of(const Problem& problem) { return problem; }

// Throws invalid_argument when a pointer that the problem needs is null. In the caller's order.
void require_pointers(const Problem& problem, const void* a, const void* b, const void* c);

// The most elements that a matrix with its batch, or a workspace, may reach to: enough for any memory, and
// three of them still have bytes that can be counted.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 60;

// In double, which does not overflow and is exact enough.
inline bool is_countable(double elements) { return elements <= static_cast<double>(most_elements); }

// The product of sizes that are not negative, the elements of `what`. Throws out_of_memory beyond the most.
inline std::int64_t count_elements(const char* what, std::initializer_list<std::int64_t> sizes) {
  double estimate = 1.0;
  for (const std::int64_t size : sizes) {
    estimate *= static_cast<double>(size);
  }
  if (!is_countable(estimate)) {
    throw Error(Status::out_of_memory, std::string(what) + " would reach beyond 2^60 elements");
  }
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    product *= size;
  }
  return product;
}

// Tells whether two members of a batch have an element in common: matrices of that many rows and columns,
// `ld` elements from column to column, a `stride` from one to the next, at least 1 where there are two. They
// may stand one after the other, side by side within `ld`, or interleaved in any other way.
bool members_overlap(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t stride,
                     std::int64_t batch);

}  // namespace duogemm
