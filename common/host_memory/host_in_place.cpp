// The call on host memory where the device works on it in place.
#include <algorithm>
#include <atomic>
#include <vector>

#include "host_memory/host_call.h"

namespace duogemm {
namespace {

// Multiply-adds that a core does in a second for each float of its vectors, and bytes that it reads from the
// last cache (two AVX-512 cores, Zen 4 and 5). Only the choice between ways that take the same time depends
// on them.
constexpr double of_lane = 5e9;
constexpr double of_cache = 8e10;

// Predicts the seconds that a core takes alone, with vectors of this many floats.
double seconds_alone(const Problem& problem, std::size_t vector_floats) {
  const auto m = static_cast<double>(problem.m), n = static_cast<double>(problem.n),
             k = static_cast<double>(problem.k);
  const double bytes = (m * k + k * n + m * n) * sizeof(float) * static_cast<double>(problem.batch);
  return std::max(problem.flops() / 2.0 / (of_lane * static_cast<double>(vector_floats)), bytes / of_cache);
}

// There are as many of them as calls at work.
class AtWork {
 public:
  explicit AtWork(std::atomic<int>& count) : count_(count), all_(++count) {}
  ~AtWork() { --count_; }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  int all() const { return all_; }

 private:
  std::atomic<int>& count_;
  const int all_;
};

// Products by the kernels that this process has in itself.
class InProcess {
 public:
  // This many threads compute, the calling one among them.
  explicit InProcess(std::size_t threads)
      : runtime_(in_process_backend().open(0, {.threads = threads}), DiskCache({})),
        queue_(runtime_.device().create_queue()) {}

  const DeviceInfo& info() { return runtime_.device().info(); }

  // Answers whether it did: not once a program was missing, as with a user's own tuning file.
  bool multiply(const Problem& problem, const HostOperands& operands) {
    if (lacks_program_) {
      return false;
    }
    Device& device = runtime_.device();
    const auto a = device.wrap(operands.a);
    const auto b = device.wrap(operands.b);
    const auto c = device.wrap(operands.c);
    try {
      runtime_.enqueue(problem, *queue_, {{{a.get()}, {b.get()}, {c.get()}}});
      return true;
    } catch (const Error& error) {
      if (error.status() != Status::unsupported) {
        throw;
      }
      lacks_program_ = true;
      return false;
    }
  }

 private:
  std::atomic<bool> lacks_program_ = false;
  Runtime runtime_;
  std::unique_ptr<Queue> queue_;  // of all that call: it keeps nothing
};

class InPlace final : public HostCall {
 public:
  explicit InPlace(Runtime& runtime) : runtime_(runtime) {
    const DeviceInfo& info = runtime.device().info();
    if (info.kind == DeviceKind::cpu && !in_process_backend().devices().empty()) {
      alone_ = std::make_unique<InProcess>(1);
      together_ = std::make_unique<InProcess>(info.compute_units);
    }
  }

  void multiply(const Problem& problem, const HostOperands& operands,
                const ProgressListener& progress) override {
    const AtWork at_work(at_work_);
    InProcess* threads = threads_for(problem, at_work.all());
    if (threads == nullptr || !threads->multiply(problem, operands)) {
      multiply_on_device(problem, operands);
    }
    if (progress) {
      progress({1.0, 0});
    }
  }

 private:
  // Null where all cores would have done it before the calling thread alone, when the device has them do one
  // call after the other. Other threads help the only call, as none is waited for that does not come in time.
  InProcess* threads_for(const Problem& problem, int calls) const {
    const bool has_programs = alone_ && problem.multiplies() && problem.batch_by == BatchBy::strides &&
                              std::max(problem.m, problem.n) >= 4;
    if (!has_programs) {
      return nullptr;
    }
    const DeviceInfo& device = runtime_.device().info();
    const double alone = seconds_alone(problem, alone_->info().vector_floats);
    const double shared = alone / static_cast<double>(device.compute_units);
    if (alone > calls * (device.seconds_to_start + shared)) {
      return nullptr;
    }
    return calls == 1 && alone > together_->info().seconds_to_start + shared ? together_.get() : alone_.get();
  }

  void multiply_on_device(const Problem& problem, const HostOperands& operands) {
    std::unique_ptr<Queue> queue = queues_.take();
    if (!queue) {
      queue = runtime_.device().create_queue();
    }
    if (problem.batch_by != BatchBy::addresses) {
      multiply_strided(problem, operands, *queue);
    } else if (are_elements_apart(problem, operands)) {
      multiply_listed(problem, operands, *queue);
    } else {
      multiply_one_by_one(problem, operands, *queue);
    }
    queues_.give_back(std::move(queue));
  }

  // Kernels take what a table says for multiples of an element's size.
  static bool are_elements_apart(const Problem& problem, const HostOperands& operands) {
    const auto is_apart = [](const float* matrix) {
      return reinterpret_cast<std::uintptr_t>(matrix) % sizeof(float) == 0;
    };
    const std::int64_t inputs = problem.multiplies() ? problem.batch : 0;
    return std::all_of(operands.a_list, operands.a_list + inputs, is_apart) &&
           std::all_of(operands.b_list, operands.b_list + inputs, is_apart) &&
           std::all_of(operands.c_list, operands.c_list + problem.batch, is_apart);
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

  Runtime& runtime_;
  std::unique_ptr<InProcess> alone_;  // null where there are no programs
  std::unique_ptr<InProcess> together_;
  std::atomic<int> at_work_ = 0;
  Pool<Queue> queues_;
};

}  // namespace

std::unique_ptr<HostCall> make_host_call(Runtime& runtime, std::optional<std::size_t> device_memory) {
  return runtime.device().info().host_memory && !device_memory ? std::make_unique<InPlace>(runtime)
                                                               : multiply_copies(runtime, device_memory);
}

}  // namespace duogemm
