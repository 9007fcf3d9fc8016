// duogemm verify: every rung, or the library's own kernels, on problems that show its mistakes, without
// timing.
#include <algorithm>
#include <cstdio>
#include <set>

#include "check/arithmetic_probe.h"
#include "check/judge.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "ladder/ladder.h"
#include "ladder/verify_problems.h"
#include "machine/memory_need.h"
#include "output/table.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "support/progress.h"

namespace duogemm::bench {
namespace {

struct VerifyFlags {
  DeviceFlags device;
  KernelFlags kernels;
  SizeFlags size;
  PrecisionFlag precision;
  bool gemm = false;
  bool smallest_tiles = false;
  bool no_guards = false;
  ResultFlags results;
};

struct Outcome {
  std::size_t problems = 0;
  double worst_error = 0.0;
  std::string unsupported;
  std::string fault;               // of the first wrong problem
  std::set<std::string> launched;  // kernels

  std::string text() const {
    return !unsupported.empty() ? "not supported here: needs " + unsupported
           : fault.empty()      ? "ok"
                                : "WRONG: " + fault;
  }
};

class Verifier {
 public:
  Verifier(const ChosenDevice& chosen, Guards guards)
      : device_(chosen.backend->open(chosen.index, {})),
        queue_(device_->create_queue()),
        programs_(*device_),
        guards_(guards) {}

  const DeviceInfo& info() const { return device_->info(); }

  // What checking the setting takes of memory.
  MemoryNeed need(const LadderSetting& setting, const std::vector<Problem>& problems) const {
    MemoryNeed need;
    for (const Problem& problem : problems) {
      MemoryNeed one = judged_need(problem);
      try {
        one.add_workspaces(make_plan(setting, problem));
      } catch (const Error& error) {
        if (error.status() != Status::unsupported) {
          throw;
        }
      }
      need = guards_ == Guards::none ? need += one : larger(need, one);
    }
    return need;
  }

  Outcome verify(const LadderSetting& setting, const std::vector<Problem>& problems) {
    Outcome outcome;
    for (const Problem& problem : problems) {
      try {
        verify(setting, problem, outcome);
      } catch (const Error& error) {
        if (error.status() != Status::unsupported) {
          throw;
        }
        outcome.unsupported = error.what();
        break;
      }
    }
    return outcome;
  }

  // What of the device's arithmetic is not IEEE 754's; empty where nothing is known to be.
  std::string broken_instructions() { return duogemm::broken_instructions(*device_, *queue_); }

 private:
  struct Run {
    Run(HostProblem data, const Plan& steps, Device& device, Queue& queue, ProgramCache& programs,
        Guards guards)
        : host(std::move(data)), plan(steps, device, programs), operands(host, device, queue, guards) {}
    HostProblem host;
    SelfContainedPlan plan;
    GuardedOperands operands;
  };

  void verify(const LadderSetting& setting, const Problem& problem, Outcome& outcome) {
    const Plan plan = make_plan(setting, problem);
    const bool reorders =
        is_rung(setting) ? duogemm::reorders(setting) : plan.steps.at(plan.multiply).kernel->reorders;
    verify(plan, is_rung(setting), !reorders, problem, outcome);
    if (setting.spec->family->splits_k() && problem.batch_by == BatchBy::strides) {
      const bool packs = setting.spec->family->gains_from_packing();
      ScheduleRequest sliced{setting.spec, setting.tunables, 2, false, packs, packs};
      verify_sliced(sliced, problem, outcome);
      if (info().clusters) {
        sliced.clustered = true;
        verify_sliced(sliced, problem, outcome);
      }
    }
  }

  void verify_sliced(const ScheduleRequest& request, const Problem& problem, Outcome& outcome) {
    const DeviceInfo device = with_few_groups();
    verify(lower(schedule_for(request, problem, device), problem, device), false, false, problem, outcome);
  }

  void verify(const Plan& plan, bool is_rung, bool is_chain, const Problem& problem, Outcome& outcome) {
    auto run =
        std::make_unique<Run>(fill(problem, outcome.problems), plan, *device_, *queue_, programs_, guards_);
    run->plan.enqueue(*queue_, is_rung ? run->operands.operands() : run->operands.offset_operands());
    const Verdict verdict = Judge(run->host).look_at_all(run->operands, *queue_);
    ++outcome.problems;
    outcome.worst_error = std::max(outcome.worst_error, verdict.worst_error);
    const bool ok = verdict.ok() && (verdict.same_bits() || !is_chain);
    if (!ok && outcome.fault.empty()) {
      outcome.fault = describe(problem) + ": " + verdict.fault();
    }
    for (const Step& step : plan.steps) {
      outcome.launched.insert(step.kernel->spec->name);
    }
    if (guards_ == Guards::none) {
      kept_.push_back(std::move(run));
    }
  }

  static bool is_rung(const LadderSetting& setting) { return as_rung(*setting.spec) != nullptr; }

  Plan make_plan(const LadderSetting& setting, const Problem& problem) const {
    if (is_rung(setting)) {
      return plan_setting(setting, problem, info());
    }
    return plan_sgemm(*setting.spec, setting.tunables, problem, with_few_groups());
  }

  // No batch of ours has enough members that work-groups walk from one to the next, unless there are few.
  DeviceInfo with_few_groups() const {
    DeviceInfo device = info();
    device.max_groups[1] = 2;
    return device;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  ProgramCache programs_;
  Guards guards_;
  std::vector<std::unique_ptr<Run>> kept_;  // a simulator may mistake a buffer for one that was freed
};

std::vector<Problem> problems_for(const LadderSetting& setting, const VerifyFlags& flags) {
  const KernelSpec& spec = *setting.spec;
  const auto shapes = [&](const Multiples& edges) {
    return flags.size.given() ? std::vector{flags.size.shape()} : edge_shapes(edges);
  };
  if (!flags.gemm) {
    return ladder_problems(shapes(as_rung(spec)->multiples(setting.tunables)));
  }
  std::vector<Problem> problems = library_problems(shapes(spec.family->tile(setting.tunables)));
  for (Problem& problem : problems) {
    problem.precision = flags.precision.precision();
  }
  std::erase_if(problems, [&](const Problem& problem) { return !spec.family->computes(problem); });
  return problems;
}

void require_memory(const VerifyFlags& flags, const std::vector<LadderSetting>& settings,
                    const Verifier& verifier) {
  MemoryNeed need;
  for (const LadderSetting& setting : settings) {
    const MemoryNeed own = verifier.need(setting, problems_for(setting, flags));
    need = flags.no_guards ? need += own : larger(need, own);
  }
  require_memory(to_text(flags.size.shape()), need, verifier.info());
}

Table make_table(bool gemm) {
  return gemm ? Table{left("kernel"), left("set"), left("launched"), "problems", "error/bound", left("")}
              : Table{"rung",     left("kernel"), left("set"), left("launched"),
                      "problems", "error/bound",  left("")};
}

std::vector<std::string> row_of(const LadderSetting& setting, const Outcome& outcome) {
  std::vector<std::string> row = {setting.spec->name,
                                  to_text(setting.distinct),
                                  join(outcome.launched, " "),
                                  std::to_string(outcome.problems),
                                  format("%.2f", outcome.worst_error),
                                  outcome.text()};
  if (const Rung* rung = as_rung(*setting.spec)) {
    row.insert(row.begin(), rung->label);
  }
  return row;
}

Json row_json(const LadderSetting& setting, const Outcome& outcome) {
  const Rung* rung = as_rung(*setting.spec);
  Json json = {{"rung", rung ? Json(rung->label) : Json(nullptr)},
               {"kernel", setting.spec->name},
               {"tunables", setting.tunables}};
  if (!outcome.unsupported.empty()) {
    json["unsupported"] = outcome.unsupported;
    return json;
  }
  json.update({{"launched", outcome.launched},
               {"problems", outcome.problems},
               {"error_per_bound", outcome.worst_error},
               {"ok", outcome.fault.empty()},
               {"fault", outcome.fault.empty() ? Json(nullptr) : Json(outcome.fault)}});
  return json;
}

int run(const VerifyFlags& flags) {
  flags.results.require();
  LadderChoice choice = flags.kernels.choice();
  choice.smallest_tiles = flags.smallest_tiles;
  const std::vector<LadderSetting> settings = flags.gemm ? library_settings(choice) : rung_settings(choice);
  Verifier verifier(flags.device.choose().front(), flags.no_guards ? Guards::none : Guards::bands);
  require_supported(choice, settings, verifier.info());
  if (flags.size.given()) {
    require_memory(flags, settings, verifier);
  }
  Progress progress;
  Table table = make_table(flags.gemm);
  Json result = dated_head("duogemm.verify/1");
  result.update({{"device", to_json(verifier.info())},
                 {"precision", to_text(flags.precision.precision())},
                 {"rows", Json::array()}});
  bool ok = true;
  for (const LadderSetting& setting : settings) {
    const Rung* rung = as_rung(*setting.spec);
    progress.show((rung ? "rung " + rung->label + " " : "") + setting.spec->name);
    const Outcome outcome = verifier.verify(setting, problems_for(setting, flags));
    ok = ok && outcome.fault.empty();
    table.add_row(row_of(setting, outcome));
    result["rows"].push_back(row_json(setting, outcome));
  }
  progress.clear();
  std::printf("%s through %s\n%s", verifier.info().name.c_str(), verifier.info().runtime.c_str(),
              table.text().c_str());
  if (const std::string broken = ok ? "" : verifier.broken_instructions(); !broken.empty()) {
    std::printf("The driver's arithmetic is not IEEE 754's, so that no kernel has the right bits: %s\n",
                broken.c_str());
  }
  flags.results.write(result);
  return ok ? 0 : 1;
}

void add_options(CLI::App& command, VerifyFlags& flags) {
  flags.device.add_to(command, false);
  flags.size.add_to(command);
  flags.kernels.add_to(command);
  CLI::Option* gemm =
      command.add_flag("--gemm", flags.gemm,
                       "The library's own kernels instead of the ladder: every transpose and kind of batch");
  flags.precision.add_to(command)->needs(gemm);
  command
      .add_flag("--smallest-tiles", flags.smallest_tiles,
                "The smallest tiles that the library's kernels can have")
      ->needs(gemm);
  command.add_flag(
      "--no-guards", flags.no_guards,
      "No guard bands around matrices, and nothing freed before the end: for a simulator that sees "
      "accesses outside of a buffer");
  flags.results.add_to(command);
}

}  // namespace

void add_verify_command(CLI::App& app, Action& action) {
  add_command<VerifyFlags>(
      app, action, "verify",
      "Check every rung, or the library's kernels, on problems around the edges of tiles", add_options, run);
}

}  // namespace duogemm::bench
