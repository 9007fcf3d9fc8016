// The one way to launch a kernel: compile a plan's steps through the program cache, then put them on a queue.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend.h"
#include "plan.h"

namespace duogemm {

// The compiled kernels of one device. May be used by several threads.
class ProgramCache {
 public:
  explicit ProgramCache(Device& device) : device_(device) {}

  // Throws build_failed with the compiler's log, or unsupported when compat/ says that the device lacks an
  // operation.
  std::shared_ptr<const Kernel> get(const KernelSpec& spec, const Tunables& tunables);

 private:
  Device& device_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels_;
};

// Where the caller's matrix is: in a buffer, from an element on.
struct MatrixPlace {
  const Buffer* buffer;
  std::int64_t offset = 0;
};

// A plan with its kernels compiled and its workspace allocated: enqueueing it allocates nothing.
class PreparedPlan {
 public:
  // A, B and C of the problem, in this order. Null for A and B of a plan that does not read them.
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
