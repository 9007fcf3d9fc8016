// duogemm plan: what the library would do with a multiplication, and why.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "cli/commands.h"
#include "cli/options.h"
#include "output/table.h"
#include "plan/lower.h"
#include "problem/precision.h"

namespace duogemm::bench {
namespace {

struct PlanFlags {
  DeviceFlags device;
  ProblemFlags problem;
  std::string force;
  std::size_t top = 0;
  ResultFlags results;
};

std::string microseconds(const std::optional<double>& seconds) {
  return seconds ? format("%.1f", *seconds * 1e6) : "-";
}

std::string tflops(const Problem& p, const std::optional<double>& seconds) {
  return seconds ? format("%.2f", 1e-12 * p.flops() / *seconds) : "-";
}

std::string times(const Extent& extent) {
  return join(extent, " x ", [](std::size_t size) { return std::to_string(size); });
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
  const bool predicted =
      std::ranges::any_of(schedules, [](const Schedule& schedule) { return schedule.seconds.has_value(); });
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

int run(const PlanFlags& flags) {
  const Problem problem = flags.problem.problem();
  const std::optional<ScheduleRequest> forced =
      flags.force.empty() ? std::nullopt : std::optional(parse_schedule(flags.force));
  const DeviceInfo device = flags.device.choose().front().info();
  const Planner& planner = planner_for(device);
  const std::string& tuning = planner.tuning().source;
  const Schedule schedule = forced ? schedule_for(*forced, problem, device) : planner.select(problem);
  const Plan plan = lower(schedule, problem, device);
  const std::size_t workspace =
      std::accumulate(plan.workspace_bytes.begin(), plan.workspace_bytes.end(), std::size_t{0});

  Json document = dated_head("duogemm.plan/1");
  document.update({{"device", to_json(device)},
                   {"problem", to_json(problem)},
                   {"precision", to_text(problem.precision)},
                   {"tuning", tuning.empty() ? Json(nullptr) : Json(tuning)},
                   {"schedule", to_text(schedule)},
                   {"predicted_s", or_null(schedule.seconds)},
                   {"workspace_bytes", workspace},
                   {"steps", Json::array()},
                   {"candidates", Json::array()}});
  for (const Step& step : plan.steps) {
    document["steps"].push_back({{"kernel", step.kernel->spec->name},
                                 {"groups", step.geometry.groups},
                                 {"local", step.geometry.local},
                                 {"tunables", to_text(step.kernel->tunables)}});
  }
  std::printf("device     %s through %s\n", device.name.c_str(), device.runtime.c_str());
  std::printf("tuning     %s\n", tuning.empty() ? "none" : tuning.c_str());
  std::printf("precision  %s\n", to_text(problem.precision));
  std::printf("schedule   %s\n", to_text(schedule).c_str());
  if (schedule.seconds) {
    std::printf("predicted  %s us, %s TFLOP/s\n", microseconds(schedule.seconds).c_str(),
                tflops(problem, schedule.seconds).c_str());
  }
  std::printf("workspace  %zu bytes\n%s", workspace, steps_text(plan).c_str());
  if (flags.top > 0) {
    std::vector<Schedule> candidates = planner.rank(problem);
    candidates.resize(std::min(flags.top, candidates.size()));
    for (const Schedule& each : candidates) {
      document["candidates"].push_back({{"schedule", to_text(each)}, {"predicted_s", or_null(each.seconds)}});
    }
    if (!candidates.empty()) {
      std::printf("\n%s", candidates_text(candidates, problem).c_str());
    }
    auto left_out = planner.left_out(problem);  // and the reason
    std::erase_if(left_out, [&](const auto& each) { return each.first == schedule.kernel->spec; });
    std::printf("%s", left_out.empty() ? "" : "\n");
    for (const auto& [spec, reason] : left_out) {
      std::printf("not %s: %s\n", spec->name.c_str(), reason.c_str());
    }
  }
  flags.results.write(document);
  return 0;
}

}  // namespace

void add_plan_command(Program& program) {
  auto [command, flags] = add_command<PlanFlags>(
      program, "plan", "Show which kernels the library would run for a multiplication, and why", run);
  flags.device.add_to(command);
  flags.problem.add_to(command);
  command.add_option("--force", flags.force, "Another schedule, such as pipelined:TSM=64,TSN=64,slices=2");
  command.add_option("--top", flags.top,
                     "Also list this many schedules, the fastest by prediction first, and why other kernels "
                     "are left out");
  flags.results.add_to(command);
}

}  // namespace duogemm::bench
