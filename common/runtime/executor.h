// The one way to launch a kernel: compile a plan's steps through the program cache, then put them on a queue.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "device/backend.h"
#include "families/plan.h"
#include "runtime/program_cache.h"

namespace duogemm {

// A matrix is in a buffer, from an element on.
struct MatrixPlace {
  const Buffer* buffer = nullptr;
  std::int64_t offset = 0;

  // Tells whether its first element stands at a multiple of 16 bytes.
  bool aligned() const { return offset % 4 == 0 && (buffer == nullptr || buffer->aligned()); }
};

// The only step of a plan, computed by this process with addresses in place of buffers and offsets. It holds
// the kernel's struct, and serves one call after the other: each gives all that is not as planned.
class StepByAddress {
 public:
  StepByAddress() = default;

  // The addresses are in floats.
  void compute(HostQueue& queue, std::int64_t a, std::int64_t b, std::int64_t c, const Scalars& scalars) {
    const std::array<std::int64_t, 4> addresses = {a, b, c, c};
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      std::memcpy(numbers_.data() + address_at_[i], &addresses[i], sizeof addresses[i]);
    }
    std::memcpy(numbers_.data() + alpha_at_, &scalars.alpha, sizeof scalars.alpha);
    std::memcpy(numbers_.data() + beta_at_, &scalars.beta, sizeof scalars.beta);
    arguments_[0] = numbers_.data();
    queue.compute(*kernel_, *geometry_, arguments_);
  }

 private:
  friend class PreparedPlan;
  const Kernel* kernel_ = nullptr;
  const Geometry* geometry_ = nullptr;
  // Bytes of the struct: where A's address is, B's, and C's, which is there twice; and the factors.
  std::array<std::size_t, 4> address_at_ = {};
  std::size_t alpha_at_ = 0;
  std::size_t beta_at_ = 0;
  alignas(std::int64_t) std::array<std::byte, sizeof(GemmArguments)> numbers_ = {};
  HostQueue::Arguments arguments_ = {};  // the struct, and buffers that are null
};

// A plan with its kernels compiled. It may run on several queues at once, each time with workspaces of its
// own.
class PreparedPlan {
 public:
  // By the slots of plan.h. What a plan does not read may be null.
  using Operands = std::array<MatrixPlace, first_workspace>;

  // Each workspace of the plan, in the plan's order.
  using Workspaces = std::vector<MatrixPlace>;

  // Throws as ProgramCache::get does.
  PreparedPlan(Plan plan, Device& device, ProgramCache& programs);

  // Answers how long a piece of memory for all workspaces is.
  std::size_t workspace_bytes() const { return layout_.bytes; }
  // The workspaces in such a piece, from byte `begin` of `memory` on, which is aligned as workspaces are.
  // They are told by offsets, which a kernel of the ladder does not take: to go from one sub-buffer to
  // another that overlaps with it costs NVIDIA's OpenCL 0.3 ms.
  Workspaces workspaces_in(const Buffer& memory, std::size_t begin) const;

  // The first `count` of its steps. The factors may be others than those planned, of which the same are zero.
  void enqueue(Queue& queue, const Operands& operands, const Workspaces& workspaces, const Scalars& scalars,
               std::size_t count = SIZE_MAX) const;
  // What must not outlive the plan; nothing where it has several steps or a workspace, or its step is no
  // product of A and B.
  std::optional<StepByAddress> by_address() const;
  // The multiplication alone, without the steps before and after. Only after a whole enqueue.
  void enqueue_multiply(Queue& queue, const Operands& operands, const Workspaces& workspaces,
                        const Scalars& scalars) const;

 private:
  static constexpr std::size_t most_arguments = 16;
  // A call's operands and factors are filled in, among the arguments and in the kernel's struct, if it takes
  // one.
  struct PreparedStep {
    std::shared_ptr<const Kernel> kernel;
    bool awaits;
    Geometry geometry;
    std::array<Argument, most_arguments> arguments = {};
    std::size_t count = 0;
    std::vector<std::pair<std::size_t, std::variant<Operand, ScalarOf>>> given = {};
    StructArgument numbers = {};
    std::size_t numbers_at = 0;

    void add(StepArgument argument);
  };
  static void enqueue(const PreparedStep& step, Queue& queue, const Operands& operands,
                      const Workspaces& workspaces, const Scalars& scalars);

  std::vector<PreparedStep> steps_;
  std::size_t multiply_;
  WorkspaceLayout layout_;
};

// A prepared plan with a buffer of its own for each workspace: for one queue at a time.
class SelfContainedPlan {
 public:
  // Throws as ProgramCache::get does, and out_of_memory.
  SelfContainedPlan(const Plan& plan, Device& device, ProgramCache& programs);

  void enqueue(Queue& queue, const PreparedPlan::Operands& operands) const {
    plan_.enqueue(queue, operands, workspaces_, scalars_);
  }
  void enqueue_first(std::size_t count, Queue& queue, const PreparedPlan::Operands& operands) const {
    plan_.enqueue(queue, operands, workspaces_, scalars_, count);
  }
  void enqueue_multiply(Queue& queue, const PreparedPlan::Operands& operands) const {
    plan_.enqueue_multiply(queue, operands, workspaces_, scalars_);
  }

 private:
  PreparedPlan plan_;
  std::vector<std::unique_ptr<Buffer>> memory_;
  PreparedPlan::Workspaces workspaces_;
  Scalars scalars_;
};

// The problem with what its operands' places say of alignment.
Problem placed(const Problem& problem, const PreparedPlan::Operands& operands);

// The matrices of a problem in memory of their own, with whatever that holds.
class BlankOperands {
 public:
  // Throws as Device::allocate does.
  BlankOperands(const Problem& problem, Device& device);
  PreparedPlan::Operands places() const { return {{{a_.get()}, {b_.get()}, {c_.get()}}}; }

 private:
  std::unique_ptr<Buffer> a_, b_, c_;
};

}  // namespace duogemm
