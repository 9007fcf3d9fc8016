#include "problem.h"

#include <string>

#include "duogemm/error.h"

namespace duogemm {
namespace {

void require_at_least(const char* name, std::int64_t value, std::int64_t least) {
  if (value < least) {
    throw Error(Status::invalid_argument, std::string(name) + " is " + std::to_string(value) +
                                              "; it must be at least " + std::to_string(least));
  }
}

}  // namespace

Problem Problem::packed(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, float beta) {
  return {.m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, .lda = m, .ldb = k, .ldc = m};
}

void validate(const Problem& problem) {
  require_at_least("m", problem.m, 1);
  require_at_least("n", problem.n, 1);
  require_at_least("k", problem.k, 1);
  require_at_least("lda", problem.lda, problem.a_rows());
  require_at_least("ldb", problem.ldb, problem.b_rows());
  require_at_least("ldc", problem.ldc, problem.m);
}

}  // namespace duogemm
