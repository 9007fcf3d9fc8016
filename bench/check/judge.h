// Decides whether a product is right: every element is looked at with all that is around it, and all or some
// are computed anew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/guarded_operands.h"
#include "check/oracle.h"

namespace duogemm {

class Judge {
 public:
  // Every element is computed anew of a problem whose matrices are in the host's memory.
  explicit Judge(const HostProblem& host);
  // A problem that is made of test_data() is treated so while it is small; of a large one, those elements are
  // computed anew where some rows, the first and the last among them, cross such columns, in the first and
  // the last and some other members of a batch.
  explicit Judge(const Problem& problem);
  // The second takes this of the machine's memory.
  static double host_bytes(const Problem& problem);

  // Looks at C, and what is around it, of the first set.
  Verdict look_at_c(const GuardedOperands& operands, Queue& queue) const;
  // The same, and at A and B too.
  Verdict look_at_all(const GuardedOperands& operands, Queue& queue) const;

 private:
  // These are computed anew; in ascending order.
  struct Selection {
    std::vector<std::int64_t> members, rows, cols;
  };
  // A column of a result in memory.
  struct Column {
    std::int64_t member, col, place;
  };
  static Selection select(const Problem& problem);
  static Oracle oracle_of(const Problem& problem, std::int64_t member, const Selection& chosen);
  // Counts all members' columns in the order of their places.
  Column column(std::int64_t number) const;
  void look_at(const GuardedArray::Piece& piece, std::int64_t& number, Verdict& verdict) const;
  void judge(const GuardedArray::Piece& piece, const Column& column, std::int64_t from, std::int64_t to,
             Verdict& verdict) const;

  Problem problem_;
  std::vector<std::int64_t> places_;  // of the members' results; empty where they are a stride apart
  std::vector<std::int64_t> order_;   // the members in the order of these
  Selection chosen_;
  std::vector<Oracle> oracles_;  // one for each chosen member
  bool finite_;                  // whether every right result is
};

// Says which single instructions, as IEEE 754 has them, the device computes wrong, where results differ by a
// bit; empty where all that were tried are right.
std::string broken_instructions(Device& device, Queue& queue);

// Answers whether fma rounds once.
bool fuses_multiply_add(Device& device, Queue& queue);

}  // namespace duogemm
