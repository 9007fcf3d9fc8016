// Whether a product is right, at any size: every element is looked at, and some of them are computed anew.
#pragma once

#include <cstdint>
#include <vector>

#include "check/inspection.h"
#include "check/operand_sets.h"
#include "check/oracle.h"

namespace duogemm::bench {

// Of a small problem every element is computed anew; of a large one, those where some rows, the first and the
// last among them, cross such columns, in the first and the last and some other members of a batch.
class Judge {
 public:
  explicit Judge(const Problem& problem);
  // What that takes of the machine's memory.
  static double host_bytes(const Problem& problem);

  // Looks at C, and what is around it, of the first set.
  Verdict look_at_c(const OperandSets& sets, Queue& queue) const;
  // The same, and at A and B too.
  Verdict look_at_all(const OperandSets& sets, Queue& queue) const;

 private:
  // An element of C: where it is, and which of the recomputed ones.
  struct Sample {
    std::int64_t place;
    std::int64_t member, row, col;
    std::size_t oracle;
    std::int64_t oracle_row, oracle_col;
  };
  void judge_sample(const Sample& sample, float found, Verdict& verdict) const;

  Problem problem_;
  std::vector<Oracle> oracles_;  // one for each sampled member of the batch
  std::vector<Sample> samples_;  // in the order of their places
};

}  // namespace duogemm::bench
