// The call on host memory, on an open device: in place where the device works on the host's memory, else by
// way of copies on the device. Several threads may call at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "duogemm/sgemm.hpp"
#include "runtime/runtime.h"

namespace duogemm {

// Column-major. Of those that the problem does not read nothing is looked at.
struct HostOperands {
  // The first matrix of each: the members of the batch are a stride apart (BatchBy::strides).
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  // Each member of the batch is where these say (BatchBy::addresses).
  const float* const* a_list = nullptr;
  const float* const* b_list = nullptr;
  float* const* c_list = nullptr;
};

class HostCall {
 public:
  virtual ~HostCall() = default;
  // Computes a product, in less time than it takes to check its sizes, and answers true, where the thread
  // remembers a call with the same. Else nothing is done.
  virtual bool multiply_again(const Sgemm&, const HostOperands&) { return false; }
  // Returns when C is complete. `problem` is not empty.
  virtual void multiply(const Problem& problem, const HostOperands& operands,
                        const ProgressListener& progress) = 0;
};

// Copies are made so.
struct CopyOptions {
  std::int64_t piece_floats = 1 << 20;  // of staging memory, which a thread fills while others are copied
  // Products that copy fewer bytes are left to the calling thread alone: to start others takes as long.
  std::uint64_t bytes_for_threads = 8 << 20;
  std::size_t threads = 0;  // 0: as many as the machine is good for
};

// `runtime` must outlive the result. device_memory: the limit, in bytes, which work in place does not know.
std::unique_ptr<HostCall> make_host_call(Runtime& runtime, std::optional<std::size_t> device_memory);

// The one of the two that copies.
std::unique_ptr<HostCall> multiply_copies(Runtime& runtime, std::optional<std::size_t> device_memory,
                                          const CopyOptions& options = {});

// Things that one thread at a time uses, made when none is idle and kept for the next.
template <typename Thing>
class Pool {
 public:
  // An idle thing, or null.
  std::unique_ptr<Thing> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) {
      return nullptr;
    }
    std::unique_ptr<Thing> thing = std::move(idle_.back());
    idle_.pop_back();
    return thing;
  }

  void give_back(std::unique_ptr<Thing> thing) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(thing));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thing>> idle_;
};

// --- Operands go through a device's memory in blocks
// ---------------------------------------------------------
//
// Their size is chosen here (README.md derives the rule), and so is the order in which they are copied to the
// device, multiplied and copied back.

// A part of an operand: the same rows and columns, as they are stored, of some members of the batch. It is
// copied without gaps: member by member, column by column.
struct Window {
  std::int64_t member;
  std::int64_t members;
  std::int64_t row;
  std::int64_t rows;
  std::int64_t col;
  std::int64_t cols;

  std::int64_t floats() const { return members * rows * cols; }
};

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

// Answers how many bytes of workspace the product of blocks needs.
using WorkspaceBytes = std::function<std::size_t(const Problem&)>;

// The blocks that are predicted to be the fastest of those for which there is memory. k is split only where
// the operands do not fit, and never at the level `everywhere`. Throws out_of_memory, which says what would
// be needed, when there is not even memory for the smallest.
Blocks choose_blocks(const Problem& problem, const DeviceMemory& memory, const WorkspaceBytes& workspace);

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
