// A product whose operands are in the host's memory, on a device with memory of its own: blocks are copied to
// the device and back by several threads while others are multiplied.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "duogemm/sgemm.hpp"
#include "host_memory/stream_plan.h"
#include "runtime/runtime.h"

namespace duogemm {

// Copies are made so.
struct CopyOptions {
  std::int64_t piece_floats = 1 << 20;  // of staging memory, which a thread fills while others are copied
  // Products that copy fewer bytes are left to the calling thread alone: to start others takes as long.
  std::uint64_t bytes_for_threads = 8 << 20;
  std::size_t threads = 0;  // 0: as many as the machine is good for
};

// One product at a time needs this: queues, staging memory, and memory on the device, which grows when it is
// too small.
class Stream {
 public:
  Stream(Runtime& runtime, const CopyOptions& options);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Returns when C is complete. The memory on the device is gone through by this product alone; what is
  // kept of it afterwards, with what was kept before, is at most `most_kept` bytes. Until there is memory for
  // all blocks, C is untouched.
  void multiply(const Problem& problem, const StreamPlan& plan, const HostOperands& operands,
                std::size_t most_kept, const ProgressListener& progress);

 private:
  class Carrier;
  class Product;

  void reserve(const Blocks& blocks, std::size_t most_kept);
  void reserve(std::size_t which, std::size_t bytes);
  std::size_t kept() const;
  Carrier& carrier(std::size_t number);

  static constexpr std::size_t workspace = 3;  // after A, B and C

  Runtime& runtime_;
  const CopyOptions options_;
  std::array<std::unique_ptr<Buffer>, 4> memory_;
  std::unique_ptr<Queue> queue_;  // of the products
  std::vector<std::unique_ptr<Carrier>> carriers_;
};

}  // namespace duogemm
