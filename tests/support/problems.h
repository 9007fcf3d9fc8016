// Problems that tests ask for.
#pragma once

#include "problem/problem.h"

namespace duogemm::testing {

// op(A) op(B) for "TN" and the like, with a gap after each column and after each matrix of a batch.
inline Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, const char* ops = "NN",
                          std::int64_t gap = 0, std::int64_t batch = 1) {
  Problem p = Problem::packed(m, n, k);
  p.a_op = ops[0] == 'T' ? Transpose::yes : Transpose::no;
  p.b_op = ops[1] == 'T' ? Transpose::yes : Transpose::no;
  p.lda = p.a_rows() + gap;
  p.ldb = p.b_rows() + gap;
  p.ldc = m + gap;
  p.batch = batch;
  p.a_stride = p.a_elements() + gap;
  p.b_stride = p.b_elements() + gap;
  p.c_stride = p.c_elements() + gap;
  return p;
}

}  // namespace duogemm::testing
