#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include "runner/runs.h"
#include "support/interrupt.h"
#include "timing/device_speed.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

constexpr std::uint32_t seed = 20141;

Plan plan_rung(const LadderSetting& setting, const Problem& problem, const DeviceInfo& device) {
  const Rung* rung = as_rung(*setting.spec);
  if (rung && rung->for_cpus && device.kind == DeviceKind::gpu) {
    throw Error(Status::unsupported, "a CPU: on a GPU, one work-item would take minutes");
  }
  return plan_setting(setting, problem, device);
}

Sessions sessions_of(const LadderRequest& request) {
  Sessions sessions;
  for (const ChosenDevice& chosen : request.devices) {
    const Conditions conditions{.cold = request.cold, .device_options = request.device_options};
    Session& session = sessions.emplace_back(chosen, conditions);
    for (const LadderSetting& setting : request.settings) {
      session.add(setting, std::bind_front(plan_rung, setting));
    }
    if (auto library = main_library(session.device(), session.queue())) {
      session.add(std::move(library), {.spares = Entry::Spares::none});
    }
  }
  return sessions;
}

// A problem with everybody's plans for it.
struct Planned {
  Planned(const LadderRequest& request, Sessions& sessions, const Shape& shape)
      : problem(Problem::packed(shape.m, shape.n, shape.k)),
        trial(sessions, problem, request.each_step),
        lacking(trial.lacking_memory(judged_need(problem, sessions.front().info()).host,
                                     request.abilities ? bandwidth_bytes(sessions.front().info()) : 0)) {}
  Problem problem;
  Trial trial;
  std::optional<std::string> lacking;  // the memory that is not there
};

Planned require_planned(const LadderRequest& request, Sessions& sessions, const Shape& shape) {
  Planned planned(request, sessions, shape);
  if (planned.lacking) {
    throw Error(Status::out_of_memory, to_text(shape) + " " + *planned.lacking);
  }
  return planned;
}

HostProblem make_numbers(const Problem& problem) {
  return random_problem(problem, Distribution::signed_unit, seed);
}

// Estimates by one run of everything how long the whole ladder takes.
double estimate_seconds(const LadderRequest& request, Planned& planned, const ShowWho& show) {
  constexpr double runs = 9.0;  // check, warm-up and samples
  const auto start = std::chrono::steady_clock::now();
  const auto exam = whole_exam(make_numbers(planned.problem));
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  planned.trial.judge(*exam, show, request.measure.stop);
  for (const Contender& contender : planned.trial.contenders()) {
    show(contender.name);
    seconds += runs * contender.run(1);
  }
  return seconds;
}

// The largest power of two up to the tutorial's 4096 for which there is memory and the whole ladder takes
// well under a minute: time grows with the cube of the size, once the device is busy.
Shape choose_shape(const LadderRequest& request, Sessions& sessions, Progress& progress) {
  constexpr double budget_seconds = 40.0;
  std::int64_t size = 256;
  const auto show = [&](const std::string& who) { progress.show("choosing a size: " + who); };
  const auto planned = [&](std::int64_t at) { return Planned(request, sessions, {at, at, at}); };
  const auto seconds = [&](Planned now) { return estimate_seconds(request, now, show); };
  while (size < 4096 && !request.measure.stopped() && !planned(2 * size).lacking &&
         8.0 * seconds(planned(size)) < budget_seconds) {
    size *= 2;
  }
  return {size, size, size};
}

// Judged by the fastest row.
std::optional<std::string> slow_reference(const std::vector<Row>& rows, const Row& reference) {
  const Row* fastest = fastest_of(rows, [](const Row&) { return true; });
  return fastest && !reference.samples.seconds.empty()
             ? slow_reference_warning(reference.name, reference.samples.median() / fastest->samples.median(),
                                      fastest->setting.spec->name)
             : std::nullopt;
}

}  // namespace

const Row* fastest_of(const std::vector<Row>& rows, const std::function<bool(const Row&)>& counts) {
  const Row* fastest = nullptr;
  for (const Row& row : rows) {
    if (row.measured() && counts(row) && (!fastest || row.samples.median() < fastest->samples.median())) {
      fastest = &row;
    }
  }
  return fastest;
}

std::string name_of(const LadderSetting& setting) {
  const std::string extra = to_text(setting.distinct);
  return setting.spec->name + (extra.empty() ? "" : " " + extra);
}

bool LadderReport::ok() const {
  return std::ranges::all_of(
      rows, [](const Row& row) { return row.missing.empty() ? row.right() : !row.is_broken; });
}

void LadderReport::keep_measured() {
  interrupted = true;
  unmeasured += std::erase_if(rows, [](const Row& row) { return row.missing.empty() && !row.measured(); });
  if (reference.samples.seconds.empty()) {
    reference.name.clear();
  }
}

std::vector<std::string> LadderReport::warnings(double wanted_noise) const {
  std::vector<NamedSamples> samples;
  for (const Row& row : rows) {
    samples.push_back({name_of(row.setting), &row.samples});
  }
  samples.push_back({reference.name, &reference.samples});
  const double noise = interrupted ? std::numeric_limits<double>::infinity() : wanted_noise;
  std::vector<std::string> warnings = timing_warnings(gpu_during, samples, noise);
  if (!busy.empty()) {
    warnings.push_back(busy);
  }
  if (const auto slow = slow_reference(rows, reference)) {
    warnings.push_back(*slow);
  }
  if (const auto weak = weak_kernels_warning(reference.title, reference.name)) {
    warnings.push_back(*weak);
  }
  if (interrupted) {
    warnings.push_back("the run was interrupted: " +
                       (unmeasured == 0 ? "the rows have fewer samples than were wanted"
                                        : "rows are missing: " + std::to_string(unmeasured)));
  }
  return warnings;
}

std::vector<LadderReport> run_ladder(const LadderRequest& request, Progress& progress) {
  const std::optional<std::string> busy = request.abilities ? busy_warning() : std::nullopt;
  Sessions sessions = sessions_of(request);
  const Shape shape = request.shape ? *request.shape : choose_shape(request, sessions, progress);
  if (!request.shape && request.measure.stopped()) {
    return {};
  }
  Planned planned = require_planned(request, sessions, shape);
  const auto show = [&](const std::string& what) { progress.show(what); };
  show("random matrices and their product in double precision");
  const auto exam = whole_exam(make_numbers(planned.problem));
  Parts parts(planned.trial.count());
  planned.trial.judge(
      *exam, [&](const std::string& who) { show(parts.next() + who); }, request.measure.stop);
  std::vector<LadderReport> reports;
  for (Session& session : sessions) {
    LadderReport& report = reports.emplace_back();
    report.device = session.info();
    report.shape = shape;
    report.fuses = session.fuses();
    if (request.abilities && !request.measure.stopped()) {
      const auto measured = [&](const auto& of) {
        return of(session.device(), session.queue(), session.programs(), interrupted());
      };
      report.peak = measured(measure_peak);
      report.bandwidth = measured(measure_bandwidth);
    }
    report.gpu_before = query_gpu(report.device.pci_bus);
  }
  // All runtimes of one GPU: what is seen of it is the same.
  GpuWatch watch(reports.front().device.pci_bus);
  planned.trial.time(request.measure, watch, show);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    LadderReport& report = reports[i];
    report.gpu_after = query_gpu(report.device.pci_bus);
    report.gpu_during = watch.moments();
    report.rows = planned.trial.take_rows(i);
    if (report.rows.size() > request.settings.size()) {
      report.reference = std::move(report.rows.back());
      report.rows.pop_back();
    }
    report.busy = busy && report.device.kind == DeviceKind::cpu ? *busy : "";
  }
  progress.clear();
  return reports;
}

void require_ladder_memory(const LadderRequest& request, const Shape& shape) {
  Sessions sessions = sessions_of(request);
  require_planned(request, sessions, shape);
}

}  // namespace duogemm::bench
