// The operands of a product go through a device's memory in blocks, whose size is chosen here. README.md
// derives the rule.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "problem/problem.h"

namespace duogemm {

// A block of C is made from a block of A and a block of B, or from several that follow each other along k.
struct Blocks {
  // The most that a block has of each. Those at the edges have less.
  std::int64_t members = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  // The device has memory for this many blocks of A, B and C.
  std::array<std::int64_t, 3> slots{};
  // The size of one slot; 0 for A and B where they take no part.
  std::array<std::int64_t, 3> slot_floats{};
  std::size_t workspace_bytes = 0;  // that the products need

  std::size_t bytes(std::size_t operand) const {
    return sizeof(float) * static_cast<std::size_t>(slots[operand] * slot_floats[operand]);
  }
  std::size_t bytes() const { return bytes(0) + bytes(1) + bytes(2) + workspace_bytes; }
};

struct DeviceMemory {
  std::size_t bytes;    // that may be taken at once
  std::size_t largest;  // of which one buffer may have this much
};

// The product of the blocks of such sizes, packed.
Problem block_problem(const Problem& problem, const Blocks& sizes, float beta);

// Each product that the blocks make of a problem, once.
std::vector<Problem> block_problems(const Problem& problem, const Blocks& blocks);

// Answers how many bytes of workspace the product of blocks needs.
using WorkspaceBytes = std::function<std::size_t(const Problem&)>;

// The blocks that are predicted to be the fastest of those for which there is memory. k is split only where
// the operands do not fit, and never at the level `everywhere`. Throws out_of_memory, which says what would
// be needed, when there is not even memory for the smallest.
Blocks choose_blocks(const Problem& problem, const DeviceMemory& memory, const WorkspaceBytes& workspace);

}  // namespace duogemm
