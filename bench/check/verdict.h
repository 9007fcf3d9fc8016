// A verdict says what was found out about a result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace duogemm {

struct Verdict {
  std::size_t computed = 0;        // elements that were computed anew
  double worst_error = 0.0;        // of these, in units of the bound: right when at most 1
  std::size_t different_bits = 0;  // of these, whose bits are not those of one fma chain in ascending k
  std::size_t not_finite = 0;    // elements that are NaN or infinite, as unwritten ones are, and must not be
  std::size_t overwritten = 0;   // elements of anything else that were changed
  std::string first_fault = {};  // where and what is wrong; empty when nothing is
  std::string first_difference = {};  // the first of different_bits
  std::uint64_t fingerprint = 0;      // of the bits of C and of what is around it

  // Right within the bound, with nothing unwritten and nothing overwritten.
  bool ok() const { return worst_error <= 1.0 && not_finite == 0 && overwritten == 0; }
  bool same_bits() const { return different_bits == 0; }
  // A kernel that adds up products in the chain's order owes this.
  bool exact() const { return ok() && same_bits(); }
  const std::string& fault() const { return first_fault.empty() ? first_difference : first_fault; }
};

}  // namespace duogemm
