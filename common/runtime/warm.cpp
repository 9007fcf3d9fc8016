#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "plan/lower.h"
#include "runtime/runtime.h"

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
  const std::vector<Preparation> all = preparations_for(device.info());
  const std::optional<std::size_t> kept_before = device.kernels_compiled_by_launches();
  std::atomic<std::size_t> taken = 0, prepared = 0, compiled = 0;
  std::mutex mutex;
  std::optional<Error> failure;
  const auto next = [&] { return share.first + share.of * taken++; };
  const auto prepare = [&](const Preparation& preparation) {
    const bool by_compiler = programs.prepare(*preparation.program);
    if (kept_before && preparation.example) {
      run(*preparation.example, device, programs);
    }
    ++prepared;
    compiled += by_compiler;
  };
  const auto note = [&](const Variant& program, Status status, const char* reason) {
    const std::lock_guard lock(mutex);
    if (!failure) {
      failure.emplace(status, program.spec->name + " " + to_text(program.tunables) + ": " + reason);
    }
  };
  const auto work = [&] {
    for (std::size_t i = next(); i < all.size(); i = next()) {
      try {
        prepare(all[i]);
      } catch (const Error& error) {
        // It is no failure where a device lacks what a program needs.
        if (error.status() != Status::unsupported) {
          note(*all[i].program, error.status(), error.what());
        }
      } catch (const std::exception& error) {
        note(*all[i].program, Status::device_error, error.what());
      }
    }
  };
  {
    const std::size_t threads =
        device.info().compiles_concurrently ? std::max(std::thread::hardware_concurrency(), 1u) : 1;
    std::vector<std::jthread> pool;
    for (std::size_t i = 0; i < threads; ++i) {
      pool.emplace_back(work);
    }
  }
  if (failure) {
    throw Error(*failure);
  }
  if (kept_before) {  // by a driver that alone knows what it has compiled
    compiled = std::min<std::size_t>(prepared, *device.kernels_compiled_by_launches() - *kept_before);
  }
  return {prepared, compiled};
}

}  // namespace duogemm
