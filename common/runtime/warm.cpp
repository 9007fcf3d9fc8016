#include "runtime/warm.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "plan/lower.h"
#include "runtime/executor.h"

namespace duogemm {
namespace {

struct Size {
  std::int64_t m, n, k;
};

// Small and large, square and skinny, the smallest first.
constexpr Size common_sizes[] = {{8, 8, 8},       {32, 32, 32},    {1, 512, 512},     {512, 1, 512},
                                 {4, 512, 512},   {512, 4, 512},   {64, 512, 512},    {512, 64, 512},
                                 {512, 512, 512}, {1024, 1024, 8}, {1024, 1024, 1024}};

std::vector<Problem> common_problems() {
  std::vector<Problem> problems = {Problem::packed(64, 64, 64, 0.0f, 2.0f)};
  for (const auto& [m, n, k] : common_sizes) {
    for (const Transpose a_op : {Transpose::no, Transpose::yes}) {
      for (const Transpose b_op : {Transpose::no, Transpose::yes}) {
        for (const Reproducibility level : {Reproducibility::run_to_run, Reproducibility::everywhere}) {
          Problem problem = Problem::packed(m, n, k);
          problem.a_op = a_op;
          problem.b_op = b_op;
          problem.lda = problem.a_rows();
          problem.ldb = problem.b_rows();
          problem.level = level;
          problems.push_back(problem);
        }
      }
    }
  }
  return problems;
}

void add(std::vector<Preparation>& preparations, const Preparation& preparation) {
  if (std::none_of(preparations.begin(), preparations.end(),
                   [&](const Preparation& other) { return other.program == preparation.program; })) {
    preparations.push_back(preparation);
  }
}

// Runs a multiplication of whatever the device's memory holds.
void run(const Problem& problem, Device& device, ProgramCache& programs) {
  const auto queue = device.create_queue();
  const BlankOperands operands(problem, device);
  const SelfContainedPlan plan(plan_sgemm(problem, device.info()), device, programs);
  plan.enqueue(*queue, operands.places());
  queue->finish();
}

class Warmer {
 public:
  Warmer(Device& device, ProgramCache& programs, const Share& share)
      : device_(device),
        programs_(programs),
        share_(share),
        all_(preparations_for(device.info())),
        kept_before_(device.kernels_compiled_by_launches()) {}

  WarmUp run() {
    {
      const std::size_t threads =
          device_.info().compiles_concurrently ? std::max(std::thread::hardware_concurrency(), 1u) : 1;
      std::vector<std::jthread> pool;
      for (std::size_t i = 0; i < threads; ++i) {
        pool.emplace_back([this] { work(); });
      }
    }
    if (failure_) {
      throw Error(failure_->status(), failure_->what());
    }
    if (kept_before_) {  // by a driver that alone knows what it has compiled
      compiled_ = std::min<std::size_t>(prepared_, *device_.kernels_compiled_by_launches() - *kept_before_);
    }
    return {prepared_, compiled_};
  }

 private:
  void work() {
    for (std::size_t i = next(); i < all_.size(); i = next()) {
      try {
        prepare(all_[i]);
      } catch (const Error& error) {
        note(all_[i], error);
      } catch (const std::exception& error) {
        note(all_[i], Error(Status::device_error, error.what()));
      }
    }
  }

  std::size_t next() { return share_.first + share_.of * taken_++; }

  void prepare(const Preparation& preparation) {
    const bool compiled = programs_.prepare(*preparation.program);
    if (kept_before_ && preparation.example) {
      duogemm::run(*preparation.example, device_, programs_);
    }
    ++prepared_;
    compiled_ += compiled;
  }

  // It is no failure where a device lacks what a program needs, which in part its compiler alone finds out.
  void note(const Preparation& preparation, const Error& error) {
    if (error.status() == Status::unsupported) {
      return;
    }
    const std::lock_guard lock(mutex_);
    if (!failure_) {
      const Variant& program = *preparation.program;
      failure_.emplace(error.status(),
                       program.spec->name + " " + to_text(program.tunables) + ": " + error.what());
    }
  }

  Device& device_;
  ProgramCache& programs_;
  const Share share_;
  const std::vector<Preparation> all_;
  const std::optional<std::size_t> kept_before_;  // kernels by the driver
  std::atomic<std::size_t> taken_ = 0;
  std::atomic<std::size_t> prepared_ = 0;
  std::atomic<std::size_t> compiled_ = 0;
  std::mutex mutex_;
  std::optional<Error> failure_;
};

}  // namespace

std::vector<Preparation> preparations_for(const DeviceInfo& device) {
  const Planner& planner = planner_for(device);
  std::vector<Preparation> preparations;
  for (const Problem& problem : common_problems()) {
    for (const Step& step : plan_sgemm(problem, planner).steps) {
      add(preparations, {step.kernel, problem});
    }
  }
  for (const Variant* program : programs_of(planner)) {
    add(preparations, {program, {}});
  }
  return preparations;
}

WarmUp warm(Device& device, ProgramCache& programs, const Share& share) {
  return Warmer(device, programs, share).run();
}

}  // namespace duogemm
