// The order in which a product's blocks are copied to the device, multiplied and copied back.
#pragma once

#include <optional>
#include <vector>

#include "host_memory/blocks.h"
#include "host_memory/host_operands.h"

namespace duogemm {

// To the device. Uploads are in the order in which steps need them.
struct Upload {
  std::size_t operand;  // 0, 1 or 2: A, B or C
  Window window;
  std::int64_t slot;
  // Its slot is free after this many steps, and after a download from it.
  std::size_t after_steps = 0;
  std::optional<std::size_t> after_download = {};
};

// The product of the blocks in three slots.
struct StreamStep {
  std::size_t problem;  // among StreamPlan::problems
  std::array<std::int64_t, 3> slots;
  std::size_t uploads;                             // this many of all must be done before, the first ones
  std::optional<std::size_t> after_download = {};  // which must be done, too
};

// A block of C back to the host.
struct Download {
  Window window;
  std::int64_t slot;
  std::size_t after_steps;
};

struct StreamPlan {
  Blocks blocks;
  std::vector<Problem> problems;
  std::vector<Upload> uploads;
  std::vector<StreamStep> steps;
  std::vector<Download> downloads;

  std::uint64_t copied_bytes() const;
};

// For a problem that is not empty. Blocks of C come column by column of blocks, and each is finished, along
// k, before the next. Deterministic: what a step adds to what does not depend on how fast anything is.
StreamPlan plan_stream(const Problem& problem, const Blocks& blocks);

}  // namespace duogemm
