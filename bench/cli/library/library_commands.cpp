// What the library does with a multiplication. duogemm accuracy: the error of products in each precision,
// over kinds of matrices and lengths of sums. duogemm latency: what a call costs besides the multiplication,
// the first time and afterwards. duogemm plan: which kernels run, and why. duogemm replay: the calls of a
// program again, by this library and by another, from the first call on.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>

#include "check/guarded_operands.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "machine/memory_need.h"
#include "output/files.h"
#include "output/reports.h"
#include "output/table.h"
#include "plan/lower.h"
#include "problem/element_type.h"
#include "problem/precision.h"
#include "replay/replay.h"
#include "runtime/runtime.h"
#include "support/interrupt.h"
#include "system/temporary_directory.h"

namespace duogemm::bench {
namespace {

struct AccuracyFlags {
  DeviceFlags device;
  AccuracyRequest request = {.device = {},
                             .precisions = {},
                             .inputs = {},
                             .ks = {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536},
                             .size = 512};
  std::vector<std::string> precisions = {"fp32", "bf16x6", "f16x3"};
  std::vector<std::string> inputs;
  ResultFlags results;
};

int run(const AccuracyFlags& flags) {
  AccuracyRequest request = flags.request;
  request.device = flags.device.choose().front();
  for (const std::string& name : flags.precisions) {
    request.precisions.push_back(parse_precision("--precision", name));
  }
  std::ranges::copy_if(input_classes(), std::back_inserter(request.inputs), [&](const InputClass& input) {
    return flags.inputs.empty() || std::ranges::count(flags.inputs, input.name) > 0;
  });
  note_interrupts();
  Progress progress;
  const AccuracyReport report = run_accuracy(
      request, progress, [&](const AccuracyReport& so_far) { flags.results.write(accuracy_json(so_far)); });
  std::printf("%s", accuracy_text(report).c_str());
  return status_unless_interrupted(report.ok() ? 0 : 1);
}

constexpr int warm_calls = 1001;

struct LatencyFlags {
  DeviceFlags device;
  SizeFlags size;
  ResultFlags results;
  std::optional<Precision> precision;
};

double median_of_warm_calls(const std::function<double()>& sample) {
  std::vector<double> samples(warm_calls);
  std::ranges::generate(samples, sample);
  std::ranges::nth_element(samples, samples.begin() + warm_calls / 2);
  return samples[warm_calls / 2];
}

// A fresh device with operands on it, as a process has them before its first call.
class Fresh {
 public:
  Fresh(const ChosenDevice& chosen, const HostProblem& host, DiskCache disk)
      : problem_(host.problem),
        runtime_(chosen.backend->open(chosen.index, {}), std::move(disk)),
        queue_(runtime_.device().create_queue()),
        operands_(host, runtime_.device(), *queue_) {}

  // Seconds until C is there, or until the call returns.
  enum class Until { result, return_ };
  double call(Until end = Until::result) {
    const auto start = std::chrono::steady_clock::now();
    runtime_.enqueue(problem_, *queue_, operands_.operands());
    if (end == Until::result) {
      queue_->finish();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    queue_->finish();
    return taken.count();
  }

 private:
  Problem problem_;
  Runtime runtime_;
  std::unique_ptr<Queue> queue_;
  GuardedOperands operands_;
};

// The members of the result file, in seconds.
Json measure_latency(const ChosenDevice& chosen, const HostProblem& host) {
  // Not the user's cache: there the first call might find its program. It leaves it there as a user's does.
  const TemporaryDirectory folder;
  const DiskCache disk(cache_directory().empty() ? std::filesystem::path() : folder.path());
  Fresh fresh(chosen, host, disk);
  Json latency = {{"first_s", fresh.call()}};
  const double loaded = Fresh(chosen, host, disk).call();
  latency["first_from_disk_s"] = disk.enabled() ? Json(loaded) : Json(nullptr);
  const double complete = median_of_warm_calls([&] { return fresh.call(); });
  latency["warm_return_s"] = median_of_warm_calls([&] { return fresh.call(Fresh::Until::return_); });
  latency["warm_result_s"] = complete;
  return latency;
}

std::string table_text(const Json& latency) {
  Table table = {left("call"), "microseconds"};
  for (const auto& [member, what] : {std::pair("first_s", "first, nothing cached on disk"),
                                     {"first_from_disk_s", "first, program on disk"},
                                     {"warm_return_s", "warm, until it returns"},
                                     {"warm_result_s", "warm, until C is there"}}) {
    if (!latency[member].is_null()) {
      table.add_row({what, format("%.1f", 1e6 * latency[member].get<double>())});
    }
  }
  return table.text();
}

int run(const LatencyFlags& flags) {
  const Shape shape = flags.size.shape_or(64);
  const ChosenDevice chosen = flags.device.choose().front();
  const DeviceInfo device = chosen.info();
  Problem problem = Problem::packed(shape.m, shape.n, shape.k);
  problem.precision = flags.precision.value_or(Precision::fp32);
  MemoryNeed need = judged_need(problem, device);  // two devices with operands are there at once
  need += guarded_need(problem, device);
  need.add_workspaces(plan_sgemm(problem, device));
  need.add_workspaces(plan_sgemm(problem, device));
  require_memory(to_text(shape), need, device);
  const Json latency = measure_latency(chosen, random_problem(problem, Distribution::signed_unit, 1));
  std::printf("%s%s", filled(device.name + " through " + device.runtime + ", " + size_text(shape)).c_str(),
              table_text(latency).c_str());
  Json document = dated_head("duogemm.latency/1");
  document.update({{"device", to_json(device)},
                   {"m", shape.m},
                   {"n", shape.n},
                   {"k", shape.k},
                   {"warm_calls", warm_calls}});
  document.update(latency);
  flags.results.write(document);
  return 0;
}

struct PlanFlags {
  DeviceFlags device;
  ProblemFlags problem;
  ElementType a_type = ElementType::fp32;
  ElementType b_type = ElementType::fp32;
  std::int64_t groups = 0;
  std::string force;
  std::size_t top = 0;
  ResultFlags results;

  // Where calls are on host memory, operands become FP32 before anything is planned.
  Problem problem_on(const DeviceInfo& device) const {
    Problem asked = problem.problem();
    if (device.programs == nullptr) {
      asked.a_type = a_type;
      asked.b_type = b_type;
    }
    if (groups > 0) {
      Sgemm call = request_of(asked);
      call.batch = groups;
      call.a_stride = asked.a_elements();
      asked = to_grouped_column_major(call).problem;
    }
    return asked;
  }
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
  for (std::size_t i = 0, same = 0; i < plan.steps.size(); i += same) {
    same = count_alike(plan, i);
    const Step& step = plan.steps[i];
    table.add_row({step.kernel->spec->name + (same > 1 ? ", " + std::to_string(same) + " times" : ""),
                   times(step.geometry.groups), times(step.geometry.local), to_text(step.kernel->tunables)});
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

void tell(const std::string& what, const std::string& text) {
  constexpr std::size_t indent = 11;
  std::printf("%s", filled(what + std::string(indent - what.size(), ' ') + text, indent).c_str());
}

int run(const PlanFlags& flags) {
  const DeviceInfo device = flags.device.choose().front().info();
  const Planner& planner = planner_for(device);
  const Problem problem = planner.as_owed(flags.problem_on(device));
  const Problem as_read = widened(problem);
  const std::optional<ScheduleRequest> forced =
      flags.force.empty() ? std::nullopt : std::optional(parse_schedule(flags.force));
  const std::string& tuning = planner.tuning().source;
  const Schedule schedule = forced ? schedule_for(*forced, as_read, device) : planner.select(as_read);
  const Plan plan = lower(schedule, problem, device);
  const std::size_t workspace =
      std::accumulate(plan.workspace_bytes.begin(), plan.workspace_bytes.end(), std::size_t{0});

  Json document = dated_head("duogemm.plan/1");
  document.update({{"device", to_json(device)},
                   {"problem", to_json(problem)},
                   {"precision", to_text(problem.precision)},
                   {"a_type", to_text(problem.a_type)},
                   {"b_type", to_text(problem.b_type)},
                   {"groups", problem.groups},
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
  tell("device", device.name + " through " + device.runtime);
  tell("tuning", tuning.empty() ? "none" : tuning);
  tell("precision", to_text(problem.precision));
  tell("schedule", to_text(schedule));
  if (schedule.seconds) {
    tell("predicted",
         microseconds(schedule.seconds) + " us, " + tflops(problem, schedule.seconds) + " TFLOP/s");
  }
  tell("workspace", std::to_string(workspace) + " bytes");
  std::printf("%s", steps_text(plan).c_str());
  if (flags.top > 0) {
    std::vector<Schedule> candidates = planner.rank(as_read);
    candidates.resize(std::min(flags.top, candidates.size()));
    for (const Schedule& each : candidates) {
      document["candidates"].push_back({{"schedule", to_text(each)}, {"predicted_s", or_null(each.seconds)}});
    }
    if (!candidates.empty()) {
      std::printf("\n%s", candidates_text(candidates, problem).c_str());
    }
    auto left_out = planner.left_out(as_read);  // and the reason
    std::erase_if(left_out, [&](const auto& each) { return each.first == schedule.kernel->spec; });
    std::printf("%s", left_out.empty() ? "" : "\n");
    for (const auto& [spec, reason] : left_out) {
      std::printf("%s", filled("not " + spec->name + ": " + reason, 2).c_str());
    }
  }
  flags.results.write(document);
  return 0;
}

struct ReplayFlags {
  ReplayRequest request;
  DeviceFlags device;
  ResultFlags results;
  std::string pass;  // whose, in a process that a replay has started
  std::string kind;
};

int run(const ReplayFlags& flags) {
  const auto start = std::chrono::steady_clock::now();
  ReplayRequest request = flags.request;
  request.device = flags.device.choose_with_barriers().front();
  if (!flags.pass.empty()) {
    request.device.info();
    const std::chrono::duration<double> choosing = std::chrono::steady_clock::now() - start;
    return serve_pass({request.files.front(),
                       {flags.pass, request.device, request.through.value_or(CallMemory::device),
                        request.precision, choosing.count()},
                       kind_of(flags.kind)});
  }
  if (!request.through && request.device.info().programs != nullptr) {
    request.through = CallMemory::host;  // the cpu device has no handles to call on
  }
  Progress progress;
  const ReplayReport report = run_replay(request, progress, [&](const ReplayReport& so_far) {
    std::printf("%s\n", trace_text(so_far.traces.back(), so_far.device).c_str());
    std::fflush(stdout);
    write_result(flags.results.json, replay_json(so_far));
  });
  return report.ok() ? 0 : 1;
}

}  // namespace

void add_accuracy_command(Program& program) {
  auto [command, flags] = add_command<AccuracyFlags>(
      program, "accuracy",
      "Measure the error of each precision, and of other libraries, over kinds of matrices", run);
  flags.device.add_to(command);
  command.add_option("--precision", flags.precisions, "Which of fp32, bf16x6 and f16x3. Default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector(flags.precisions)));
  std::vector<std::string> names;
  std::ranges::transform(input_classes(), std::back_inserter(names), &InputClass::name);
  command.add_option("--inputs", flags.inputs, "Kinds of matrices. Default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  command.add_option("-k", flags.request.ks, "Lengths of sums")
      ->delimiter(',')
      ->capture_default_str()
      ->check(size_range());
  command.add_option("--size", flags.request.size, "M and N")->capture_default_str()->check(size_range());
  command.add_flag("--time", flags.request.timed,
                   "Time the products too: what is computed may depend on the numbers");
  flags.results.add_to(command);
}

void add_latency_command(Program& program) {
  auto [command, flags] = add_command<LatencyFlags>(
      program, "latency", "Time the first and later calls of a small multiplication", run);
  flags.device.add_to(command);
  flags.size.add_to(command);
  add_precision(command, flags.precision);
  flags.results.add_to(command);
}

void add_plan_command(Program& program) {
  auto [command, flags] = add_command<PlanFlags>(
      program, "plan", "Show which kernels the library would run for a multiplication, and why", run);
  flags.device.add_to(command);
  flags.problem.add_to(command);
  add_choice(command, "--a-type", flags.a_type, element_types,
             "What the elements of A are stored in. Default: fp32");
  add_choice(command, "--b-type", flags.b_type, element_types,
             "What the elements of B are stored in. Default: fp32");
  command
      .add_option("--groups", flags.groups,
                  "A grouped product: into how many groups the columns of B and C are cut, each with an A")
      ->check(size_range())
      ->excludes("--batch");
  command.add_option("--force", flags.force, "Another schedule, such as pipelined:TSM=64,TSN=64,slices=2");
  command.add_option("--top", flags.top,
                     "Also list this many schedules, the fastest by prediction first, and why other kernels "
                     "are left out");
  flags.results.add_to(command);
}

void add_replay_command(Program& program) {
  auto [command, flags] = add_command<ReplayFlags>(
      program, "replay", "Run a program's recorded calls again, versus another library, from the first on",
      run);
  ReplayRequest& request = flags.request;
  command
      .add_option("traces", request.files, "Files that DUOGEMM_RECORD or bench/traces/make.py has written")
      ->required();
  flags.device.add_to(command);
  add_choice(command, "--through", request.through,
             {{"device", CallMemory::device}, {"host", CallMemory::host}},
             "Where the matrices are: 'device', or 'host' for plain arrays. Default: where they were");
  command
      .add_option("--against", request.against,
                  "The other library, or 'none'. Default: on the host's memory and on a CPU, the first that "
                  "there is for it; cuBLAS through CUDA, else CLBlast")
      ->transform(one_of_libraries({"cuBLAS", "cublasLt", "CLBlast"}));
  add_precision(command, request.precision)
      ->description(
          "What the products of all calls may be computed with, but for those at the level everywhere. "
          "Default: as in the trace");
  command.add_option("--repeat", request.repeats, "Start all processes so often, in turns, and take medians")
      ->capture_default_str()
      ->check(number_in(1, 100));
  command.add_flag(
      "--warm", request.warmed,
      "Run also in a process that prepares all programs by duogemm_warm() before its first call");
  flags.results.add_to(command);
  command.add_option("--pass", flags.pass)->group("");  // for the processes that a replay starts
  command.add_option("--kind", flags.kind)->group("");
}

}  // namespace duogemm::bench
