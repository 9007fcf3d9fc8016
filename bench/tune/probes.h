// The multiplications that a tuner looks at: how operands may be stored, and problems of each kind.
#pragma once

#include "support/shapes.h"

namespace duogemm::bench {

// Kernels are compiled differently for operands that are stored in these ways.
struct OperandKind {
  bool a_transposed;
  bool b_transposed;
  bool wide;                              // sizes and leading dimensions are multiples of 4
  std::int64_t skinny = 0;                // how many columns C has, where that decides; else 0
  Precision precision = Precision::fp32;  // that is permitted

  std::string name() const;  // "NT wide", "TN narrow", "NN wide skinny 4", "NN wide f16x3"
};

// All there are, the skinny ones first.
std::vector<OperandKind> operand_kinds(Precision precision = Precision::fp32);

// Leading dimensions are as small as the kind has them. When `kind` is wide, so must m and n be.
Problem make_problem(const OperandKind& kind, std::int64_t m, std::int64_t n, std::int64_t k,
                     std::int64_t batch = 1);

// Squares of all sizes, skinny and tall results, long sums, batches; of a skinny kind, such that are as
// skinny.
std::vector<NamedShape> make_probes(const OperandKind& kind);

// Problems that no tile divides, one of several tiles each way and one smaller than any tile.
std::vector<Problem> edge_problems(const OperandKind& kind);

}  // namespace duogemm::bench
