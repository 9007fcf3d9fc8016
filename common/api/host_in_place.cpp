// The call on host memory where the device works on it in place.
#include <vector>

#include "host_call.h"
#include "pocl_turn.h"
#include "pool.h"

namespace duogemm {
namespace {

class InPlace final : public HostCall {
 public:
  explicit InPlace(Runtime& runtime) : runtime_(runtime) {}

  void multiply(const Problem& problem, const HostOperands& operands,
                const ProgressListener& progress) override {
    std::unique_ptr<Queue> queue = queues_.take();
    if (!queue) {
      queue = runtime_.device().create_queue();
    }
    if (problem.batch_by == BatchBy::addresses) {
      multiply_listed(problem, operands, *queue);
    } else {
      multiply_strided(problem, operands, *queue);
    }
    queues_.give_back(std::move(queue));
    if (progress) {
      progress({1.0, 0});
    }
  }

 private:
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
    const PoclTurn turn(runtime_.device().info());
    try {
      runtime_.enqueue(problem, queue, operands);
    } catch (...) {
      try {
        queue.finish();
      } catch (...) {
        // The device is lost. What went wrong first is what the caller hears of.
      }
      throw;
    }
    queue.finish();
  }

  Runtime& runtime_;
  Pool<Queue> queues_;
};

}  // namespace

std::unique_ptr<HostCall> multiply_in_place(Runtime& runtime) { return std::make_unique<InPlace>(runtime); }

std::unique_ptr<HostCall> make_host_call(Runtime& runtime, std::optional<std::size_t> device_memory) {
  return runtime.device().info().host_memory && !device_memory ? multiply_in_place(runtime)
                                                               : multiply_copies(runtime, device_memory);
}

}  // namespace duogemm
