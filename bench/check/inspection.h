// What a multiplication has left in memory: whether all of C was written, and nothing else.
#pragma once

#include <cstdint>
#include <string>

#include "check/guarded_array.h"
#include "problem/problem.h"

namespace duogemm::bench {

struct Verdict {
  std::size_t computed = 0;        // elements that were computed anew
  double worst_error = 0.0;        // of these, in units of the bound: right when at most 1
  std::size_t different_bits = 0;  // of these, whose bits are not those of one fma chain in ascending k
  std::size_t not_finite = 0;      // elements of the result that are NaN or infinite, as unwritten ones are
  std::size_t overwritten = 0;     // elements of anything else that were changed
  std::string first_fault;         // empty when there is none
  std::uint64_t fingerprint = 0;   // of the bits of C

  bool ok() const { return worst_error <= 1.0 && not_finite == 0 && overwritten == 0; }
};

// Expects the piece of the array of that name to be as it was filled.
void expect_untouched(const char* name, const GuardedArray::Piece& piece, Verdict& verdict);

// Goes through C with the bands around it, piece by piece.
class ResultInspection {
 public:
  explicit ResultInspection(const Problem& problem);
  // The piece that follows on the last.
  void look_at(const GuardedArray::Piece& piece, Verdict& verdict);

 private:
  // The column of a result that comes next in memory.
  std::int64_t begin() const;

  const Problem problem_;
  const bool members_first_;  // results stand side by side: a column of each, then the next of each
  std::int64_t column_ = 0;   // how many columns, of whatever member, lie before it
};

}  // namespace duogemm::bench
