#include "replay/pass.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "check/judge.h"
#include "cpu_backend.h"
#include "replay/operands.h"
#include "support/format.h"

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

// The device, and what stands on it for the trace.
class Stage {
 public:
  Stage(const Trace& trace, const Subject& subject) : trace_(trace), subject_(subject) {
    if (subject.needs_device()) {
      const auto start = Clock::now();
      opened_ = subject.device.backend->open(subject.device.index, {});
      own_queue_ = opened_->create_queue();
      context_s_ = subject.choosing_s + seconds_since(start);
    }
    if (subject.on_arrays()) {
      arrays_ = cpu_backend().open(0, {});
      array_queue_ = arrays_->create_queue();
    }
    operands_ = std::make_unique<TraceOperands>(trace, device(), queue());
    call_seconds_.reserve(static_cast<std::size_t>(trace.call_count()));
  }

  double context_s() const { return context_s_; }
  Device& device() { return arrays_ ? *arrays_ : *opened_; }
  Queue& queue() { return arrays_ ? *array_queue_ : *own_queue_; }
  ReferenceLibrary& caller() { return *caller_; }

  // Does what a program may do before its first call, and answers how many seconds that took.
  double warm() {
    const auto start = Clock::now();
    queue().with_device([&] {
      caller_ = make_caller(subject_, device(), queue());
      caller_->warm();
    });
    return seconds_since(start);
  }

  // Makes the caller first where there is none yet.
  Walk walk() {
    operands_->restore_c(queue());
    call_seconds_.clear();
    Walk walk;
    queue().with_device([&] {
      const auto start = Clock::now();
      if (!caller_) {
        caller_ = make_caller(subject_, device(), queue());
      }
      for_each_call([&](std::size_t which) {
        const auto before = Clock::now();
        call(which);
        call_seconds_.push_back(static_cast<float>(seconds_since(before)));
      });
      queue().finish();
      walk.wall_s = seconds_since(start);
    });
    std::vector<float> new_seconds = seconds_of_new_calls();
    walk.new_median_s = quantile(new_seconds, 0.5);
    walk.new_p99_s = quantile(new_seconds, 0.99);
    walk.call_median_s = quantile(call_seconds_, 0.5);
    walk.call_p99_s = quantile(call_seconds_, 0.99);
    return walk;
  }

  // Answers seconds for each of the different calls.
  std::vector<double> time_calls() {
    operands_->restore_c(queue());
    std::vector<double> seconds(trace_.calls.size(), 0.0);
    queue().with_device([&] {
      for_each_call([&](std::size_t which) {
        const auto before = Clock::now();
        call(which);
        queue().finish();
        seconds[which] += seconds_since(before);
      });
    });
    return seconds;
  }

  // Nothing but judging comes after this.
  void give_up_operands() { operands_.reset(); }

 private:
  template <typename Work>
  void for_each_call(const Work& work) const {
    for (const TraceStep& step : trace_.steps) {
      for (std::int64_t i = 0; i < step.times; ++i) {
        work(step.call);
      }
    }
  }

  std::vector<float> seconds_of_new_calls() const {
    std::vector<float> seconds;
    std::vector<bool> seen(trace_.calls.size(), false);
    auto next = call_seconds_.begin();
    for_each_call([&](std::size_t which) {
      if (!seen[which]) {
        seen[which] = true;
        seconds.push_back(*next);
      }
      ++next;
    });
    return seconds;
  }

  void call(std::size_t which) {
    const ReadyCall& call = operands_->call(which);
    caller_->multiply(call.problem(), call.operands());
  }

  const Trace& trace_;
  const Subject& subject_;
  std::unique_ptr<Device> opened_;  // null for those who need none
  std::unique_ptr<Queue> own_queue_;
  std::unique_ptr<Device> arrays_;  // the host, where operands are plain arrays
  std::unique_ptr<Queue> array_queue_;
  double context_s_ = 0.0;
  std::unique_ptr<TraceOperands> operands_;
  std::unique_ptr<ReferenceLibrary> caller_;
  std::vector<float> call_seconds_;
};

std::string judge(const TraceCall& call, Stage& stage) {
  GuardedOperands sets(call.problem, 1, stage.device(), stage.queue());
  const ReadyCall ready(call, sets.operands(0), stage.device(), stage.queue());
  stage.queue().with_device([&] {
    stage.caller().multiply(ready.problem(), ready.operands());
    stage.queue().finish();
  });
  const Verdict verdict = Judge(call.problem).look_at_all(sets, stage.queue());
  if (verdict.ok()) {
    return "";
  }
  return "m=" + std::to_string(call.problem.m) + " n=" + std::to_string(call.problem.n) +
         " k=" + std::to_string(call.problem.k) + format(": an error of %.3g bounds", verdict.worst_error) +
         (verdict.first_fault.empty() ? "" : ", " + verdict.first_fault);
}

// Calls over all the trace, the first and the last among them. Those whose scalars are not finite have no
// right result.
void judge_some(const Trace& trace, Stage& stage, PassResult& result) {
  std::set<std::size_t> chosen;
  for (std::size_t i = 0; i < calls_to_judge; ++i) {
    chosen.insert(i * (trace.calls.size() - 1) / (calls_to_judge - 1));
  }
  for (const std::size_t which : chosen) {
    const TraceCall& call = trace.calls[which];
    if (!std::isfinite(call.problem.alpha) || !std::isfinite(call.problem.beta)) {
      continue;
    }
    ++result.checked;
    if (const std::string fault = judge(call, stage); !fault.empty() && result.fault.empty()) {
      result.fault = fault;
    }
  }
}

}  // namespace

const char* word_of(PassKind kind) {
  return kind == PassKind::whole ? "whole" : kind == PassKind::first ? "first" : "warmed";
}

PassKind kind_of(const std::string& word) {
  for (const PassKind kind : {PassKind::whole, PassKind::first, PassKind::warmed}) {
    if (word == word_of(kind)) {
      return kind;
    }
  }
  throw Error(Status::invalid_argument, "--kind " + word + ": expected whole, first or warmed");
}

PassResult run_pass(const Trace& trace, const Subject& subject, PassKind kind) {
  PassResult result;
  Stage stage(trace, subject);
  result.context_s = stage.context_s();
  if (kind == PassKind::warmed) {
    result.warm_s = stage.warm();
  }
  result.first = stage.walk();
  result.name = stage.caller().name();
  if (kind != PassKind::whole) {
    return result;
  }
  for (const auto start = Clock::now(); result.again.empty() || (result.again.size() < most_walks &&
                                                                 seconds_since(start) < walking_seconds);) {
    result.again.push_back(stage.walk());
  }
  result.call_s = stage.time_calls();
  stage.give_up_operands();
  judge_some(trace, stage, result);
  return result;
}

}  // namespace duogemm::bench
