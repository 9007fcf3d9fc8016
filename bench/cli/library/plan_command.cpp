// duogemm plan: what the library would do with a multiplication, and why.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "cli/commands.h"
#include "cli/options.h"
#include "output/table.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "support/shapes.h"

namespace duogemm::bench {
namespace {

struct PlanFlags {
  DeviceFlags device;
  SizeFlags size;
  std::string ops = "NN";
  std::int64_t batch = 1;
  LevelFlag level;
  PrecisionFlag precision;
  std::string force;
  std::size_t top = 0;
  ResultFlags results;
};

// All of this is shown.
struct Planned {
  Problem problem;
  DeviceInfo device;
  std::string tuning;  // where its measurements are from; empty without any
  Schedule schedule;
  Plan plan;
  std::vector<Schedule> candidates;
  std::vector<std::pair<const KernelSpec*, std::string>> left_out;  // and the reason
};

Problem problem_of(const PlanFlags& flags) {
  const Shape shape = flags.size.shape();
  Problem problem = packed_problem(shape.m, shape.n, shape.k, flags.ops, flags.batch);
  problem.level = flags.level.level();
  problem.precision = flags.precision.precision();
  validate(problem);
  return problem;
}

std::string microseconds(const std::optional<double>& seconds) {
  return seconds ? format("%.1f", *seconds * 1e6) : "-";
}

std::string tflops(const Problem& p, const std::optional<double>& seconds) {
  return seconds ? format("%.2f", 1e-12 * p.flops() / *seconds) : "-";
}

std::string times(const Extent& extent) {
  return std::to_string(extent[0]) + " x " + std::to_string(extent[1]) + " x " + std::to_string(extent[2]);
}

std::string steps_text(const Plan& plan) {
  Table table = {left("step"), "work-groups", "work-items", left("tunables")};
  for (const Step& step : plan.steps) {
    table.add_row({step.kernel->spec->name, times(step.geometry.groups), times(step.geometry.local),
                   to_text(step.kernel->tunables)});
  }
  return table.text();
}

std::string candidates_text(const std::vector<Schedule>& schedules, const Problem& problem) {
  // There is no model of CPUs: nothing is predicted there.
  const bool predicted = std::any_of(schedules.begin(), schedules.end(),
                                     [](const Schedule& schedule) { return schedule.seconds.has_value(); });
  Table table = predicted ? Table{"rank", "predicted us", "TFLOP/s", left("schedule")}
                          : Table{"rank", left("schedule")};
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    std::vector<std::string> cells = {std::to_string(i + 1), to_text(schedules[i])};
    if (predicted) {
      cells.insert(cells.begin() + 1,
                   {microseconds(schedules[i].seconds), tflops(problem, schedules[i].seconds)});
    }
    table.add_row(std::move(cells));
  }
  return table.text();
}

Planned planned(const PlanFlags& flags) {
  const Problem problem = problem_of(flags);
  const std::optional<ScheduleRequest> forced =
      flags.force.empty() ? std::nullopt : std::optional(parse_schedule(flags.force));
  const DeviceInfo device = flags.device.choose().front().info();
  const Planner& planner = planner_for(device);
  const Schedule schedule = forced ? schedule_for(*forced, problem, device) : planner.select(problem);
  Planned planned{problem, device, planner.tuning().source, schedule, lower(schedule, problem, device),
                  {},      {}};
  if (flags.top > 0) {
    planned.candidates = planner.rank(problem);
    planned.candidates.resize(std::min(flags.top, planned.candidates.size()));
    planned.left_out = planner.left_out(problem);
    std::erase_if(planned.left_out, [&](const auto& each) { return each.first == schedule.kernel->spec; });
  }
  return planned;
}

std::size_t workspace_bytes(const Plan& plan) {
  return std::accumulate(plan.workspace_bytes.begin(), plan.workspace_bytes.end(), std::size_t{0});
}

void print(const Planned& planned) {
  std::printf("device     %s through %s\n", planned.device.name.c_str(), planned.device.runtime.c_str());
  std::printf("tuning     %s\n", planned.tuning.empty() ? "none" : planned.tuning.c_str());
  std::printf("precision  %s\n", to_text(planned.problem.precision));
  std::printf("schedule   %s\n", to_text(planned.schedule).c_str());
  if (planned.schedule.seconds) {
    std::printf("predicted  %s us, %s TFLOP/s\n", microseconds(planned.schedule.seconds).c_str(),
                tflops(planned.problem, planned.schedule.seconds).c_str());
  }
  std::printf("workspace  %zu bytes\n%s", workspace_bytes(planned.plan), steps_text(planned.plan).c_str());
  if (!planned.candidates.empty()) {
    std::printf("\n%s", candidates_text(planned.candidates, planned.problem).c_str());
  }
  std::printf("%s", planned.left_out.empty() ? "" : "\n");
  for (const auto& [spec, reason] : planned.left_out) {
    std::printf("not %s: %s\n", spec->name.c_str(), reason.c_str());
  }
}

Json plan_json(const Planned& planned) {
  Json steps = Json::array();
  for (const Step& step : planned.plan.steps) {
    steps.push_back({{"kernel", step.kernel->spec->name},
                     {"groups", step.geometry.groups},
                     {"local", step.geometry.local},
                     {"tunables", to_text(step.kernel->tunables)}});
  }
  Json candidates = Json::array();
  for (const Schedule& schedule : planned.candidates) {
    candidates.push_back({{"schedule", to_text(schedule)}, {"predicted_s", or_null(schedule.seconds)}});
  }
  Json document = dated_head("duogemm.plan/1");
  document.update({{"device", to_json(planned.device)},
                   {"problem", to_json(planned.problem)},
                   {"precision", to_text(planned.problem.precision)},
                   {"tuning", planned.tuning.empty() ? Json(nullptr) : Json(planned.tuning)},
                   {"schedule", to_text(planned.schedule)},
                   {"predicted_s", or_null(planned.schedule.seconds)},
                   {"workspace_bytes", workspace_bytes(planned.plan)},
                   {"steps", steps},
                   {"candidates", candidates}});
  return document;
}

int run(const PlanFlags& flags) {
  flags.results.require();
  const Planned result = planned(flags);
  print(result);
  flags.results.write(plan_json(result));
  return 0;
}

void add_options(CLI::App& command, PlanFlags& flags) {
  flags.device.add_to(command, false);
  flags.size.add_to(command);
  command.add_option("--ops", flags.ops, "How A and B are stored: NN, NT, TN or TT; T for transposed")
      ->check(CLI::IsMember({"NN", "NT", "TN", "TT"}))
      ->capture_default_str();
  command.add_option("--batch", flags.batch, "How many of them, one after the other")
      ->check(number_in(std::int64_t{1}, std::int64_t{1} << 24))
      ->capture_default_str();
  flags.level.add_to(command);
  flags.precision.add_to(command);
  command.add_option("--force", flags.force, "Another schedule, such as pipelined:TSM=64,TSN=64,slices=2");
  command.add_option("--top", flags.top,
                     "Also list this many schedules, the fastest by prediction first, and why other kernels "
                     "are left out");
  flags.results.add_to(command);
}

}  // namespace

void add_plan_command(CLI::App& app, Action& action) {
  add_command<PlanFlags>(app, action, "plan",
                         "Show which kernels the library would run for a multiplication, and why",
                         add_options, run);
}

}  // namespace duogemm::bench
