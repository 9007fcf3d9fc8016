// Compiled code as the laboratory sees it: instructions of a few kinds, whatever language they came in.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace duogemm::bench {

enum class Kind {
  multiply_add,  // fused: of single precision, or those of a block on tensor cores
  local_load,
  local_store,
  global_load,
  global_store,
  copy,         // from global to local memory, past the registers
  stack_load,   // of what did not fit into registers
  stack_store,  //
  shuffle,
  barrier,
  addition,    // of single precision, also fused: how sums of tensor cores are promoted
  arithmetic,  // on addresses and counters, and moves between registers
  control,     // branches, comparisons, waiting, nothing
};
inline constexpr std::size_t kinds = 13;

// "multiply_add": the name in result files.
const char* name_of(Kind kind);
// "multiply-adds": for people. A CPU has one memory, and what is a work-group's is on a stack.
std::string title_of(Kind kind, bool cpu);

struct Instruction {
  std::size_t address;  // or the place in the listing, where the language has no addresses
  Kind kind;
  int multiply_adds = 0;                // of one work-item, its share of a block, or of one vector on a CPU
  int bytes = 0;                        // that it moves, likewise
  std::optional<std::size_t> target{};  // of a branch whose target is known
};

// The instructions of one kernel in the order of their addresses.
using Listing = std::vector<Instruction>;

// Counts the instructions of each kind, and what they do; in a loop, in one iteration.
struct Mix {
  struct Count {
    double instructions = 0.0;
    double bytes = 0.0;
  };
  std::array<Count, kinds> counts{};
  double multiply_adds = 0.0;

  Count& operator[](Kind kind) { return counts[static_cast<std::size_t>(kind)]; }
  const Count& operator[](Kind kind) const { return counts[static_cast<std::size_t>(kind)]; }
  double instructions() const;
  // A multiply-add that reads memory counts as an instruction once, and its bytes as the global loads'.
  void add(const Instruction& instruction, double times);
};

}  // namespace duogemm::bench
