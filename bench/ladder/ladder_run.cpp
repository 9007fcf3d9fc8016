#include "ladder/ladder_run.h"

#include <algorithm>
#include <chrono>

#include "ladder/ladder_memory.h"
#include "ladder/ladder_session.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

constexpr std::uint32_t seed = 20141;

Problem problem_of(const Shape& shape) { return Problem::packed(shape.m, shape.n, shape.k); }

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What the whole ladder takes at a size, about, judged by one run of everything.
double estimate_seconds(const LadderRequest& request, std::int64_t size, Progress& progress) {
  constexpr double runs = 9.0;  // check, warm-up and samples
  const HostProblem host = random_problem(problem_of({size, size, size}), Distribution::signed_unit, seed);
  double seconds = seconds_of([&] { Judge{host}; });
  for (const ChosenDevice& chosen : request.devices) {
    LadderSession session(request, chosen);
    session.prepare(host, progress);
    std::vector<Contender> contenders;
    session.add_contenders(contenders);
    for (const Contender& contender : contenders) {
      progress.show(contender.name + " (to choose a size)");
      contender.run(1);
      seconds += runs * contender.run(1);
    }
  }
  return seconds;
}

// The largest power of two up to the tutorial's 4096 for which there is memory and the whole ladder takes
// well under a minute: time grows with the cube of the size, once the device is busy.
Shape choose_shape(const LadderRequest& request, Progress& progress) {
  constexpr double budget_seconds = 40.0;
  std::int64_t size = 256;
  const auto fits = [&](std::int64_t other) {
    return !lacking_ladder_memory(request, {other, other, other});
  };
  while (size < 4096 && !request.measure.stopped() && fits(2 * size) &&
         8.0 * estimate_seconds(request, size, progress) < budget_seconds) {
    size *= 2;
  }
  return {size, size, size};
}

// Judged by the fastest row.
std::optional<std::string> slow_reference(const std::vector<LadderRow>& rows, const ReferenceRow& reference) {
  const LadderRow* fastest = nullptr;
  for (const LadderRow& row : rows) {
    if (row.measured() && (!fastest || row.samples.median() < fastest->samples.median())) {
      fastest = &row;
    }
  }
  return fastest && !reference.samples.seconds.empty()
             ? slow_reference_warning(reference.name, reference.samples.median() / fastest->samples.median(),
                                      fastest->setting.spec->name)
             : std::nullopt;
}

}  // namespace

bool LadderReport::ok() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const LadderRow& row) { return !row.unsupported.empty() || row.right(); });
}

void LadderReport::keep_measured() {
  unmeasured +=
      std::erase_if(rows, [](const LadderRow& row) { return row.unsupported.empty() && !row.measured(); });
  if (reference.samples.seconds.empty()) {
    reference.name.clear();
  }
}

std::vector<std::string> LadderReport::warnings(double wanted_noise) const {
  std::vector<NamedSamples> samples;
  for (const LadderRow& row : rows) {
    const std::string extra = to_text(row.setting.distinct);
    samples.push_back({row.setting.spec->name + (extra.empty() ? "" : " " + extra), &row.samples});
  }
  samples.push_back({reference.name, &reference.samples});
  std::vector<std::string> warnings = timing_warnings(gpu_during, samples, wanted_noise);
  if (!busy.empty()) {
    warnings.push_back(busy);
  }
  if (const auto slow = slow_reference(rows, reference)) {
    warnings.push_back(*slow);
  }
  if (unmeasured > 0) {
    warnings.push_back("the run was interrupted: " + std::to_string(unmeasured) + " rows are missing");
  }
  return warnings;
}

std::vector<LadderReport> run_ladder(const LadderRequest& request, Progress& progress) {
  const std::optional<std::string> busy = request.abilities ? busy_warning() : std::nullopt;
  const Shape shape = request.shape ? *request.shape : choose_shape(request, progress);
  if (!request.shape && request.measure.stopped()) {
    return {};
  }
  require_ladder_memory(request, shape);
  progress.show("random matrices and their product in double precision");
  const HostProblem host = random_problem(problem_of(shape), Distribution::signed_unit, seed);
  const Judge judge(host);

  std::vector<std::unique_ptr<LadderSession>> sessions;
  std::vector<Contender> contenders;
  for (const ChosenDevice& chosen : request.devices) {
    sessions.push_back(std::make_unique<LadderSession>(request, chosen));
    sessions.back()->prepare(host, progress);
    sessions.back()->check(judge, progress);
    if (request.abilities && !request.measure.stopped()) {
      sessions.back()->measure_abilities();
    }
    sessions.back()->note_state_before();
    sessions.back()->add_contenders(contenders);
  }
  // Both runtimes of one GPU: what is seen of it is the same.
  GpuWatch watch(sessions.front()->device().info().pci_bus);
  std::vector<Samples> samples;
  watch.during([&] {
    samples = measure(contenders, request.measure, [&](const std::string& name) { progress.show(name); });
  });
  std::vector<LadderReport> reports;
  auto next = samples.begin();
  for (const auto& session : sessions) {
    session->note_states(watch.moments());
    session->take_samples(next);
    reports.push_back(session->take_report());
    if (busy && reports.back().device.kind == DeviceKind::cpu) {
      reports.back().busy = *busy;
    }
  }
  progress.clear();
  return reports;
}

}  // namespace duogemm::bench
