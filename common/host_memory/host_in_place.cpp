// The call on host memory where the device works on it in place.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "host_memory/host_call.h"

namespace duogemm {
namespace {

class InPlace final : public HostCall {
 public:
  explicit InPlace(Runtime& runtime) : runtime_(runtime), queue_(runtime.device().create_host_queue()) {}

  bool multiply_again(const Sgemm& call, const HostOperands& operands) override {
    if (call.layout == Layout::row_major) {
      Sgemm swapped = call;
      swap_operands(swapped);
      return multiply_again(swapped, {.a = operands.b, .b = operands.a, .c = operands.c});
    }
    Known* const known = queue_ ? Memory::of(call) : nullptr;
    if (known == nullptr || known->serial != serial_ || !alike(known->problem, call) ||
        operands.a == nullptr || operands.b == nullptr || operands.c == nullptr ||
        !are_elements_aligned(operands)) {
      return false;
    }
    const MatrixPlace a = place_of(operands.a), b = place_of(operands.b), c = place_of(operands.c);
    if (a.aligned() != known->problem.a_aligned || b.aligned() != known->problem.b_aligned ||
        c.aligned() != known->problem.c_aligned) {
      return false;
    }
    known->step.compute(*queue_, a.offset, b.offset, c.offset, {call.alpha, call.beta});
    return true;
  }

  void multiply(const Problem& problem, const HostOperands& operands,
                const ProgressListener& progress) override {
    if (!queue_ || problem.batch_by == BatchBy::addresses || !multiply_by_address(problem, operands)) {
      multiply_on_queue(problem, operands);
    }
    if (progress) {
      progress({1.0, 0});
    }
  }

 private:
  // What a thread remembers of a problem that multiplies.
  struct Known {
    std::uint64_t serial = 0;  // of the InPlace
    Problem problem;
    std::shared_ptr<const PreparedPlan> plan;
    StepByAddress step;  // of the plan
  };

  // A thread's memory goes with the thread, and calls that come even later know nothing.
  class Memory {
   public:
    // Null at the thread's end.
    static Known* of(const Sgemm& p) {
      Known* all = all_;
      if (all == nullptr) {
        if (gone_) {
          return nullptr;
        }
        thread_local const Memory memory;
        all = all_;
      }
      // With one multiplication: a chain of them takes as long as a small product. Nine times a number
      // is one instruction for an address.
      std::uint64_t mixed = 0;
      for (const std::int64_t number : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.batch}) {
        mixed = 9 * mixed + static_cast<std::uint64_t>(number);
      }
      return &all[mixed * 0x9e3779b97f4a7c15u >> 58];
    }

   private:
    Memory() { all_ = new Known[64]; }
    ~Memory() {
      delete[] all_;
      all_ = nullptr;
      gone_ = true;
    }

    static inline thread_local Known* all_ = nullptr;
    static inline thread_local bool gone_ = false;
  };

  // Tells whether the two, of which the first multiplies, differ in nothing that a plan of one step depends
  // on (see `key` in runtime/runtime.cpp).
  static bool alike(const Sgemm& a, const Sgemm& b) {
    return a.m == b.m && a.n == b.n && a.k == b.k && a.lda == b.lda && a.ldb == b.ldb && a.ldc == b.ldc &&
           a.a_op == b.a_op && a.b_op == b.b_op && a.batch == b.batch && a.a_stride == b.a_stride &&
           a.b_stride == b.b_stride && a.c_stride == b.c_stride && a.level == b.level &&
           a.precision == b.precision && a.a_type == b.a_type && a.b_type == b.b_type &&
           a.c_type == b.c_type && b.alpha != 0.0f && (a.beta == 0.0f) == (b.beta == 0.0f);
  }

  static bool is_element_aligned(const float* matrix) {
    return reinterpret_cast<std::uintptr_t>(matrix) % sizeof(float) == 0;
  }

  static bool are_elements_aligned(const HostOperands& operands) {
    return is_element_aligned(operands.a) && is_element_aligned(operands.b) && is_element_aligned(operands.c);
  }

  // A matrix's buffer is the null address, and its address is an offset, for kernels that the process
  // computes.
  static MatrixPlace place_of(const float* matrix) {
    return {nullptr, static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(matrix) / sizeof(float))};
  }

  // False where no offset tells an address.
  bool multiply_by_address(const Problem& given, const HostOperands& operands) {
    if (!are_elements_aligned(operands)) {
      return false;
    }
    const PreparedPlan::Operands places{place_of(operands.a), place_of(operands.b), place_of(operands.c)};
    const Problem problem = placed(given, places);
    std::shared_ptr<const PreparedPlan> plan = runtime_.enqueue(problem, *queue_, places);
    Known* const known = Memory::of(problem);
    const std::optional<StepByAddress> step = plan->by_address();
    if (known != nullptr && problem.multiplies() && step) {
      *known = {serial_, problem, std::move(plan), *step};
    }
    return true;
  }

  void multiply_on_queue(const Problem& problem, const HostOperands& operands) {
    std::unique_ptr<Queue> queue = queues_.take();
    if (!queue) {
      queue = runtime_.device().create_queue();
    }
    if (problem.batch_by != BatchBy::addresses) {
      multiply_strided(problem, operands, *queue);
    } else if (are_elements_aligned(problem, operands)) {
      multiply_listed(problem, operands, *queue);
    } else {
      multiply_one_by_one(problem, operands, *queue);
    }
    queues_.give_back(std::move(queue));
  }

  // Kernels take what a table says for multiples of an element's size.
  static bool are_elements_aligned(const Problem& problem, const HostOperands& operands) {
    const std::int64_t inputs = problem.multiplies() ? problem.batch : 0;
    return std::all_of(operands.a_list, operands.a_list + inputs, is_element_aligned) &&
           std::all_of(operands.b_list, operands.b_list + inputs, is_element_aligned) &&
           std::all_of(operands.c_list, operands.c_list + problem.batch, is_element_aligned);
  }

  // Once a member of C has changed, whatever fails is a device_error (see Status).
  void multiply_one_by_one(const Problem& problem, const HostOperands& operands, Queue& queue) {
    Problem member = problem;
    member.batch = 1;
    member.batch_by = BatchBy::strides;
    for (std::int64_t i = 0; i < problem.batch; ++i) {
      const bool reads_inputs = problem.multiplies();
      try {
        multiply_strided(member,
                         {.a = reads_inputs ? operands.a_list[i] : nullptr,
                          .b = reads_inputs ? operands.b_list[i] : nullptr,
                          .c = operands.c_list[i]},
                         queue);
      } catch (const Error& error) {
        throw Error(i > 0 ? Status::device_error : error.status(), error.what());
      }
    }
  }

  void multiply_strided(const Problem& problem, const HostOperands& operands, Queue& queue) {
    Device& device = runtime_.device();
    const bool reads_inputs = problem.multiplies();
    const auto a = reads_inputs ? device.wrap(operands.a) : nullptr;
    const auto b = reads_inputs ? device.wrap(operands.b) : nullptr;
    const auto c = device.wrap(operands.c);
    run(problem, {{{a.get()}, {b.get()}, {c.get()}}}, queue);
  }

  // A matrix's address is in a table, and its buffer is the null address.
  void multiply_listed(const Problem& problem, const HostOperands& operands, Queue& queue) {
    Device& device = runtime_.device();
    const auto count = static_cast<std::size_t>(problem.multiplies() ? problem.batch : 0);
    const std::vector<std::int64_t> a = addresses(operands.a_list, count);
    const std::vector<std::int64_t> b = addresses(operands.b_list, count);
    const std::vector<std::int64_t> c = addresses(operands.c_list, static_cast<std::size_t>(problem.batch));
    const auto table_a = device.wrap(a.data());
    const auto table_b = device.wrap(b.data());
    const auto table_c = device.wrap(c.data());
    run(problem, {{{}, {}, {}, {table_a.get()}, {table_b.get()}, {table_c.get()}}}, queue);
  }

  template <typename Element>
  static std::vector<std::int64_t> addresses(Element* const* list, std::size_t count) {
    std::vector<std::int64_t> table;
    for (std::size_t i = 0; i < count; ++i) {
      table.push_back(reinterpret_cast<std::intptr_t>(list[i]));
    }
    return table;
  }

  // Whatever happens: when this returns, no command works on the caller's memory any more.
  void run(const Problem& problem, const PreparedPlan::Operands& operands, Queue& queue) {
    const auto alone_on_device = runtime_.device().exclusive_use();
    try {
      runtime_.enqueue(problem, queue, operands);
    } catch (...) {
      queue.finish_whatever_happens();
      throw;
    }
    try {
      queue.finish();
    } catch (const Error& error) {
      throw Error(Status::device_error, error.what());  // C may have changed (see Status)
    }
  }

  static std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }

  Runtime& runtime_;
  const std::uint64_t serial_ = next_serial();
  const std::unique_ptr<HostQueue> queue_;  // null but where the process computes
  Pool<Queue> queues_;
};

}  // namespace

std::unique_ptr<HostCall> make_host_call(Runtime& runtime, std::optional<std::size_t> device_memory) {
  return runtime.device().info().host_memory && !device_memory ? std::make_unique<InPlace>(runtime)
                                                               : multiply_copies(runtime, device_memory);
}

}  // namespace duogemm
