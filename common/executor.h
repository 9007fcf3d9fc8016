// The one way to launch a kernel: compile a plan's steps through the program cache, then put them on a queue.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "backend.h"
#include "plan.h"
#include "program_cache.h"

namespace duogemm {

// Where the caller's matrix is: in a buffer, from an element on.
struct MatrixPlace {
  const Buffer* buffer = nullptr;
  std::int64_t offset = 0;

  // Whether its first element stands at a multiple of 16 bytes.
  bool aligned() const { return offset % 4 == 0 && (buffer == nullptr || buffer->aligned()); }
};

// A plan with its kernels compiled and its workspace allocated: enqueueing it allocates nothing.
class PreparedPlan {
 public:
  // A, B and C of the problem and then their tables, in this order. What a plan does not read may be null: a
  // kernel is given C in its place.
  using Operands = std::array<MatrixPlace, first_workspace>;

  // Throws as ProgramCache::get does, and out_of_memory.
  PreparedPlan(const Plan& plan, Device& device, ProgramCache& programs);

  void enqueue(Queue& queue, const Operands& operands) const;
  // The multiplication alone, without the steps that bring operands into its form. Only after a whole
  // enqueue.
  void enqueue_multiply(Queue& queue, const Operands& operands) const;

 private:
  struct PreparedStep {
    std::shared_ptr<const Kernel> kernel;
    Geometry geometry;
    std::vector<StepArgument> arguments;
  };
  void enqueue(const PreparedStep& step, Queue& queue, const Operands& operands) const;
  Argument resolve(std::int32_t value, const Operands&) const { return value; }
  Argument resolve(std::int64_t value, const Operands&) const { return value; }
  Argument resolve(float value, const Operands&) const { return value; }
  Argument resolve(Operand operand, const Operands& operands) const;
  Argument resolve(OffsetOf offset, const Operands& operands) const;

  std::vector<PreparedStep> steps_;
  std::size_t multiply_;
  std::vector<std::unique_ptr<Buffer>> workspace_;
};

}  // namespace duogemm
