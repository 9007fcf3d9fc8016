#include "tune/workbench.h"

#include <algorithm>
#include <thread>

#include "plan/lower.h"

namespace duogemm::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The device's own facts, and what nobody measures here.
Tuning facts_of(const DeviceInfo& info, const Stopwatch& stopwatch) {
  Tuning facts = tuning_for(info);
  facts.target = {info.backend, kind_name(info.kind), info.name, 0};
  facts.source.clear();
  facts.evidence.clear();
  facts.bandwidth = stopwatch.bandwidth();
  facts.launch = stopwatch.launch();
  facts.calibrations.clear();
  facts.shapes.clear();
  return facts;
}

}  // namespace

Workbench::Workbench(Device& on, const TuneOptions& given, const std::atomic<bool>& stop)
    : device(on),
      options(given),
      programs(on, DiskCache({})),
      stopwatch(on, programs),
      facts(facts_of(on.info(), stopwatch)),
      random(given.seed),
      stop_(stop),
      end_(Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(given.budget))) {}

double Workbench::seconds_left() const { return std::chrono::duration<double>(end_ - Clock::now()).count(); }

bool Workbench::fits(const Problem& problem) const {
  const auto bytes = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(float); };
  const std::size_t a = bytes(problem.a_extent());
  const std::size_t b = bytes(problem.b_extent());
  const std::size_t c = bytes(problem.c_extent());
  return std::max({a, b, c}) <= info().max_allocation_bytes && a + b + c <= info().memory_bytes / 4;
}

double Workbench::seconds(const Schedule& schedule, const Problem& problem, const Effort& effort) {
  return stopwatch.seconds(lower(schedule, problem, info()), problem, effort);
}

std::vector<double> Workbench::seconds(std::span<const Schedule> schedules, const Problem& problem,
                                       const Effort& effort) {
  std::vector<Plan> plans;
  for (const Schedule& schedule : schedules) {
    plans.push_back(lower(schedule, problem, info()));
  }
  return stopwatch.seconds(plans, problem, effort);
}

void Workbench::add_kernels(const Schedule& schedule, const Problem& problem,
                            std::vector<const Variant*>& kernels) const {
  for (const Step& step : lower(schedule, problem, info()).steps) {
    kernels.push_back(step.kernel);
  }
}

std::vector<std::optional<std::string>> Workbench::compile(std::span<const Variant* const> kernels) {
  return compile_all(kernels, programs, options.threads, [this] { return enough(); });
}

const Schedule& fastest(const std::vector<Schedule>& schedules) {
  return *std::ranges::min_element(schedules, {}, [](const Schedule& each) { return *each.seconds; });
}

std::vector<std::optional<std::string>> compile_all(std::span<const Variant* const> kernels,
                                                    ProgramCache& programs, unsigned threads,
                                                    const std::function<bool()>& enough) {
  std::vector<std::optional<std::string>> refusals(kernels.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> pool;
  for (unsigned thread = 0; thread < threads; ++thread) {
    pool.emplace_back([&] {
      for (std::size_t i = next++; i < kernels.size() && !enough(); i = next++) {
        refusals[i].emplace();
        try {
          programs.get(*kernels[i]);
        } catch (const std::exception& error) {
          refusals[i] = error.what();
        }
      }
    });
  }
  pool.clear();  // waits for all
  return refusals;
}

}  // namespace duogemm::bench
