// duogemm verify: every rung, or the library's own kernels, on problems that show its mistakes, without
// timing.
#include <algorithm>
#include <cstdio>
#include <set>

#include "check/arithmetic_probe.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "ladder/ladder.h"
#include "ladder/verify_problems.h"
#include "machine/memory_need.h"
#include "output/table.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "runner/exam.h"
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

  void add(const Problem& problem, const Row& row) {
    ++problems;
    worst_error = std::max(worst_error, row.verdict.worst_error);
    launched.insert(row.launched.begin(), row.launched.end());
    if (!row.right() && fault.empty()) {
      fault = describe(problem) + ": " + row.verdict.fault();
    }
  }
};

bool is_rung(const LadderSetting& setting) { return as_rung(*setting.spec) != nullptr; }

// No batch of ours has enough members that work-groups walk from one to the next, unless there are few.
DeviceInfo with_few_groups(DeviceInfo device) {
  device.max_groups[1] = 2;
  return device;
}

Entry::MakePlan plan_of_schedule(const ScheduleRequest& request) {
  return [request](const Problem& problem, const DeviceInfo& device) {
    const DeviceInfo few = with_few_groups(device);
    return lower(schedule_for(request, problem, few), problem, few);
  };
}

class Verifier {
 public:
  Verifier(const ChosenDevice& chosen, Guards guards) : session_(chosen, {}), guards_(guards) {}

  const DeviceInfo& info() { return session_.info(); }

  // Counts the memory that checking the setting takes.
  MemoryNeed need(const LadderSetting& setting, const std::vector<Problem>& problems) {
    MemoryNeed need;
    for (const Problem& problem : problems) {
      MemoryNeed one = judged_need(problem);
      plan(setting, problem)->add_workspaces(one);
      need = guards_ == Guards::none ? need += one : larger(need, one);
    }
    return need;
  }

  Outcome verify(const LadderSetting& setting, const std::vector<Problem>& problems) {
    Outcome outcome;
    for (const Problem& problem : problems) {
      auto trial = plan(setting, problem);
      auto exam = std::make_unique<WholeExam>(fill(problem, outcome.problems), guards_, !is_rung(setting));
      trial->judge(
          *exam, [](const std::string&) {}, nullptr);
      for (const Row& row : trial->rows()) {
        if (!row.missing.empty()) {
          outcome.unsupported = row.missing;
          return outcome;
        }
        outcome.add(problem, row);
      }
      if (guards_ == Guards::none) {
        kept_.emplace_back(std::move(exam), std::move(trial));
      }
    }
    return outcome;
  }

  // Names what of the device's arithmetic is not IEEE 754's; empty where nothing is known to be.
  std::string broken_instructions() {
    return duogemm::broken_instructions(session_.device(), session_.queue());
  }

 private:
  // The setting's plan and, of kernels that can split k, plans that do.
  std::unique_ptr<Trial> plan(const LadderSetting& setting, const Problem& problem) {
    session_.remove_entries();
    if (is_rung(setting)) {
      session_.add(setting);
      return std::make_unique<Trial>(session_, problem);
    }
    session_.add(setting, [setting](const Problem& one, const DeviceInfo& device) {
      return plan_sgemm(*setting.spec, setting.tunables, one, with_few_groups(device));
    });
    if (setting.spec->family->splits_k() && problem.batch_by == BatchBy::strides) {
      const bool packs = setting.spec->family->gains_from_packing();
      ScheduleRequest split{setting.spec, setting.tunables, 2, false, packs, packs};
      session_.add(setting, plan_of_schedule(split), true);
      split.clustered = true;
      if (info().clusters && setting.spec->family->adds_in_clusters()) {
        session_.add(setting, plan_of_schedule(split), true);
      }
    }
    return std::make_unique<Trial>(session_, problem);
  }

  Session session_;
  const Guards guards_;
  // A simulator may mistake a buffer for one that was freed.
  std::vector<std::pair<std::unique_ptr<WholeExam>, std::unique_ptr<Trial>>> kept_;
};

// Of a device that compiles nothing: each setting of a kernel that it has, where none was asked for.
std::vector<LadderSetting> settings_for(const VerifyFlags& flags, const LadderChoice& choice,
                                        const DeviceInfo& device) {
  std::vector<LadderSetting> settings = flags.gemm ? library_settings(choice) : rung_settings(choice);
  if (device.programs == nullptr || !choice.set.empty() || choice.smallest_tiles) {
    return settings;
  }
  std::vector<LadderSetting> there;
  for (const LadderSetting& setting : settings) {
    const std::vector<Tunables> built = built_settings(*setting.spec, device);
    for (const Tunables& tunables : built) {
      there.push_back(library_settings({{setting.spec->name}, tunables, choice.switches}).front());
    }
    if (built.empty()) {
      there.push_back(setting);
    }
  }
  return there;
}

std::vector<Problem> problems_for(const LadderSetting& setting, const VerifyFlags& flags,
                                  const DeviceInfo& device) {
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
  // What a problem fixes may make another program of a setting, and a device that compiles nothing may have
  // it with other tunables only: each of them is a setting of its own.
  const auto has_program = [&](const Problem& problem) {
    return !problem.multiplies() || device.programs == nullptr || !flags.kernels.tunables.set.empty() ||
           flags.smallest_tiles || built_settings(spec, device).empty() ||
           std::holds_alternative<Schedule>(try_schedule({&spec, setting.tunables}, problem, device));
  };
  std::erase_if(problems, [&](const Problem& problem) {
    return !spec.family->computes(problem) || !has_program(problem);
  });
  return problems;
}

void require_memory(const VerifyFlags& flags, const std::vector<LadderSetting>& settings,
                    Verifier& verifier) {
  MemoryNeed need;
  for (const LadderSetting& setting : settings) {
    const MemoryNeed own = verifier.need(setting, problems_for(setting, flags, verifier.info()));
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
  const ChosenDevice chosen = (flags.gemm ? flags.device.choose() : flags.device.choose_compiling()).front();
  Verifier verifier(chosen, flags.no_guards ? Guards::none : Guards::bands);
  const std::vector<LadderSetting> settings = settings_for(flags, choice, verifier.info());
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
    progress.show(setting.spec->name);
    const Outcome outcome = verifier.verify(setting, problems_for(setting, flags, verifier.info()));
    ok = ok && outcome.fault.empty();
    table.add_row(row_of(setting, outcome));
    result["rows"].push_back(row_json(setting, outcome));
  }
  progress.clear();
  std::printf("%s through %s\n%s", verifier.info().name.c_str(), verifier.info().runtime.c_str(),
              table.text().c_str());
  const bool probes = !ok && verifier.info().programs == nullptr;
  if (const std::string broken = probes ? verifier.broken_instructions() : ""; !broken.empty()) {
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
