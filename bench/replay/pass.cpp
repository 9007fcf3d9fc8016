// One process of a replay: somebody runs the whole trace, and may run it again.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <set>

#include "check/judge.h"
#include "cpu_backend.h"
#include "machine/memory_need.h"
#include "references/own_library.h"
#include "replay/replay.h"
#include "support/format.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_walks = 5;    // again
constexpr double walking_seconds = 3.0;  // after which no further walk begins
constexpr std::size_t calls_to_judge = 5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// That fraction of the values, which are not empty and lose their order, is at most the answer.
double quantile(std::vector<float>& values, double fraction) {
  const std::ptrdiff_t place = std::lround(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return static_cast<double>(values[static_cast<std::size_t>(place)]);
}

// As large as the largest of the calls, and never empty: a call may come without one of the operands.
Extents extents_of(const Trace& trace) {
  Extents extents{1, 1, 1};
  for (const TraceCall& call : trace.calls) {
    extents = larger(extents, Extents::of(call.problem));
  }
  return extents;
}

// A call as a library on the device takes it, with its operands. The tables of a batch by lists are its own:
// offsets or addresses, as the device finds the members of a batch that is not strided.
struct ReadyCall {
  ReadyCall(const TraceCall& call, const Operands& matrices, Device& device, Queue& queue)
      : problem(call.problem), operands(matrices) {
    if (call.batch == CallBatch::strides) {
      return;
    }
    const bool offsets = device.info().backend == "opencl";
    problem.batch_by = offsets ? BatchBy::offsets : BatchBy::addresses;
    const std::int64_t strides[] = {problem.a_stride, problem.b_stride, problem.c_stride};
    for (std::size_t matrix = 0; matrix < tables.size(); ++matrix) {
      const std::int64_t size = offsets ? 1 : sizeof(float);
      std::vector<std::int64_t> entries;
      for (std::int64_t i = 0; i < problem.batch; ++i) {
        entries.push_back((offsets ? 0 : static_cast<std::int64_t>(matrices[matrix].buffer->native())) +
                          size * i * strides[matrix]);
      }
      tables[matrix] = device.allocate(sizeof(std::int64_t) * entries.size());
      queue.write(*tables[matrix], entries.data(), tables[matrix]->bytes());
      operands[static_cast<std::size_t>(table_a.slot) + matrix] = {tables[matrix].get()};
    }
  }

  Problem problem;
  Operands operands;
  std::array<std::unique_ptr<Buffer>, 3> tables;
};

// The device, and what stands on it for the trace: the same matrices for all calls.
class Stage {
 public:
  Stage(const Trace& trace, const Subject& subject) : trace_(trace), subject_(subject) {
    const bool needs_device = !works_on_host(subject.title);
    if (needs_device) {
      const auto start = Clock::now();
      opened_.emplace(subject.device.backend->open(subject.device.index, {}));
      context_s_ = subject.choosing_s + seconds_since(start);
    }
    if (is_ours() ? subject.through == CallMemory::host : !needs_device) {
      arrays_.emplace(cpu_backend().open(0, {}));
    }
    matrices_.emplace(extents_of(trace), test_data().c, 1, device(), queue());
    for (const TraceCall& call : trace.calls) {
      calls_.emplace_back(call, matrices_->operands(), device(), queue());
    }
    for_each_call([&](std::size_t which) {
      // The trace numbers its different calls in the order in which they come first.
      if (which == new_calls_.size()) {
        new_calls_.push_back(call_count_);
      }
      ++call_count_;
    });
  }

  double context_s() const { return context_s_; }
  std::string name() const { return caller_->name(); }

  // Does what a program may do before its first call, and answers how many seconds that took.
  double warm() {
    const auto start = Clock::now();
    queue().with_device([&] {
      make_caller();
      caller_->warm();
    });
    return seconds_since(start);
  }

  Walk walk() {
    Walk walk;
    std::vector<float> all;
    walk.wall_s = run(all, false);
    std::vector<float> new_calls;
    for (const std::size_t place : new_calls_) {
      new_calls.push_back(all[place]);
    }
    walk.new_median_s = quantile(new_calls, 0.5);
    walk.new_p99_s = quantile(new_calls, 0.99);
    walk.call_median_s = quantile(all, 0.5);
    walk.call_p99_s = quantile(all, 0.99);
    return walk;
  }

  // Answers seconds for each of the different calls.
  std::vector<double> time_calls() {
    std::vector<float> all;
    run(all, true);
    std::vector<double> seconds(trace_.calls.size(), 0.0);
    auto next = all.begin();
    for_each_call([&](std::size_t which) { seconds[which] += static_cast<double>(*next++); });
    return seconds;
  }

  // Calls over all the trace, the first and the last among them. Those whose scalars are not finite have no
  // right result. Nothing comes after this.
  void judge_some(PassResult& result) {
    calls_.clear();
    matrices_.reset();
    std::set<std::size_t> chosen;
    for (std::size_t i = 0; i < calls_to_judge; ++i) {
      chosen.insert(i * (trace_.calls.size() - 1) / (calls_to_judge - 1));
    }
    for (const std::size_t which : chosen) {
      const Problem& p = trace_.calls[which].problem;
      if (!std::isfinite(p.alpha) || !std::isfinite(p.beta)) {
        continue;
      }
      GuardedOperands sets(p, 1, device(), queue());
      const ReadyCall ready(trace_.calls[which], sets.operands(0), device(), queue());
      queue().with_device([&] {
        caller_->multiply(ready.problem, ready.operands);
        queue().finish();
      });
      const Verdict verdict = Judge(p).look_at_all(sets, queue());
      ++result.checked;
      if (!verdict.ok() && result.fault.empty()) {
        result.fault = "m=" + std::to_string(p.m) + " n=" + std::to_string(p.n) +
                       " k=" + std::to_string(p.k) +
                       format(": an error of %.3g bounds", verdict.worst_error) +
                       (verdict.first_fault.empty() ? "" : ", " + verdict.first_fault);
      }
    }
  }

 private:
  bool is_ours() const { return subject_.title == "duogemm"; }
  Device& device() { return *(arrays_ ? arrays_ : opened_)->device; }
  Queue& queue() { return *(arrays_ ? arrays_ : opened_)->queue; }

  template <typename Work>
  void for_each_call(const Work& work) const {
    for (const TraceStep& step : trace_.steps) {
      for (std::int64_t i = 0; i < step.times; ++i) {
        work(step.call);
      }
    }
  }

  // Seconds of the whole trace, and of each of its calls. Makes the caller first where there is none yet.
  double run(std::vector<float>& seconds, bool finish_each) {
    matrices_->restore_c(queue());
    seconds.reserve(call_count_);
    double wall_s = 0.0;
    queue().with_device([&] {
      const auto start = Clock::now();
      if (!caller_) {
        make_caller();
      }
      for_each_call([&](std::size_t which) {
        const auto before = Clock::now();
        caller_->multiply(calls_[which].problem, calls_[which].operands);
        if (finish_each) {
          queue().finish();
        }
        seconds.push_back(static_cast<float>(seconds_since(before)));
      });
      queue().finish();
      wall_s = seconds_since(start);
    });
    return wall_s;
  }

  // Does what a program does before its first call: makes the library's handle, or whatever it has.
  void make_caller() {
    const auto& [backend, index] = subject_.device;
    if (is_ours()) {
      caller_ = arrays_ ? make_public_calls(std::string(backend->name()) + ":" + std::to_string(index))
                        : make_public_calls(device(), queue());
      return;
    }
    caller_ = make_library(
        subject_.title, {device().info(), &device(), &queue(), host_threads_beside(subject_.device.info())});
    if (caller_ == nullptr) {
      throw Error(Status::unsupported, "there is no " + subject_.title + " for the device");
    }
  }

  const Trace& trace_;
  const Subject& subject_;
  struct Memory {
    explicit Memory(std::unique_ptr<Device> on) : device(std::move(on)), queue(device->create_queue()) {}
    std::unique_ptr<Device> device;
    std::unique_ptr<Queue> queue;
  };
  std::optional<Memory> opened_;  // nothing for those who need none
  std::optional<Memory> arrays_;  // the host, where operands are plain arrays
  double context_s_ = 0.0;
  std::optional<GuardedOperands> matrices_;
  std::vector<ReadyCall> calls_;
  std::unique_ptr<ReferenceLibrary> caller_;
  std::vector<std::size_t> new_calls_;  // where each of the different calls comes first
  std::size_t call_count_ = 0;
};

PassResult run_pass(const Trace& trace, const Subject& subject, PassKind kind) {
  PassResult result;
  Stage stage(trace, subject);
  result.context_s = stage.context_s();
  if (kind == PassKind::warmed) {
    result.warm_s = stage.warm();
  }
  result.first = stage.walk();
  result.name = stage.name();
  if (kind != PassKind::whole) {
    return result;
  }
  for (const auto start = Clock::now(); result.again.empty() || (result.again.size() < most_walks &&
                                                                 seconds_since(start) < walking_seconds);) {
    result.again.push_back(stage.walk());
  }
  result.call_s = stage.time_calls();
  stage.judge_some(result);
  return result;
}

}  // namespace

void require_memory(const Trace& trace, const DeviceInfo& device, CallMemory through) {
  const auto [total, largest] = operand_bytes(extents_of(trace), 1, device);
  MemoryNeed need{.device = static_cast<double>(total), .largest = static_cast<double>(largest)};
  if (through == CallMemory::host) {
    // A call on plain arrays may copy them to staging memory, and from there into a buffer.
    need = {.host = need.device * (device.kind == DeviceKind::cpu ? 4 : 3)};
  } else {
    need.device *= 2;
  }
  require_memory(trace.name, need, device);
}

PassKind kind_of(const std::string& word) {
  const auto* const found = std::ranges::find(pass_words, word);
  if (found == std::end(pass_words)) {
    reject("--kind " + word + ": expected whole, first or warmed");
  }
  return static_cast<PassKind>(found - std::begin(pass_words));
}

int serve_pass(const PassRequest& request) {
  nlohmann::json json;
  try {
    Trace trace = load_trace(request.file);
    if (request.subject.precision) {
      trace.permit(*request.subject.precision);
    }
    json = run_pass(trace, request.subject, request.kind);
  } catch (const Error& error) {
    json = {{"error", error.what()}, {"status", static_cast<int>(error.status())}};
  }
  std::printf("%s\n", json.dump().c_str());
  return 0;
}

}  // namespace duogemm::bench
