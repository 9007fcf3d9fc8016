// duogemm verify: every rung, or the library's own kernels, on problems that show its mistakes, without
// timing.
#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/options.h"
#include "ladder/ladder.h"
#include "machine/memory_need.h"
#include "output/reports.h"
#include "output/table.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "runner/run.h"
#include "support/progress.h"

namespace duogemm::bench {
namespace {

struct VerifyFlags {
  DeviceFlags device;
  LadderChoice choice;
  SizeFlags size;
  std::optional<Precision> precision;
  bool gemm = false;
  bool no_guards = false;
  ResultFlags results;
};

struct Outcome {
  std::size_t problems = 0;
  double worst_error = 0.0;
  std::string unsupported;
  std::string fault;                  // of the first wrong problem
  std::string refusal;                // by the compiler
  std::vector<std::string> launched;  // kernels, each once, in the order of the plans
};

// No batch of ours has enough members that work-groups walk from one to the next, unless there are few.
DeviceInfo with_few_groups(DeviceInfo device) {
  device.max_groups[1] = 2;
  return device;
}

// Where none is asked for, a device with programs built in shows each setting of a kernel that it has.
std::vector<LadderSetting> settings_for(const VerifyFlags& flags, const DeviceInfo& device) {
  const LadderChoice& choice = flags.choice;
  std::vector<LadderSetting> settings = flags.gemm ? library_settings(choice) : rung_settings(choice);
  shrink_to(device, choice, settings);
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

bool has_program(const LadderSetting& setting, const Problem& problem, const DeviceInfo& device) {
  try {
    schedule_for({setting.spec, setting.tunables}, problem, device);
    return true;
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) {
      throw;
    }
    return false;
  }
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
    problem.precision = flags.precision.value_or(Precision::fp32);
  }
  // What a problem fixes may make another program of a setting, and a device with programs built in may have
  // it with other tunables only: each of them is a setting of its own.
  const bool goes_over_programs = device.programs != nullptr && flags.choice.set.empty() &&
                                  !flags.choice.smallest_tiles && !built_settings(spec, device).empty();
  std::erase_if(problems, [&](const Problem& problem) {
    return !spec.family->computes(problem) ||
           (goes_over_programs && problem.multiplies() && !has_program(setting, problem, device));
  });
  return problems;
}

// The setting's plan and, of kernels that can split k, plans that do.
std::unique_ptr<Trial> plan(const LadderSetting& setting, const Problem& problem, Session& session) {
  session.remove_entries();
  if (as_rung(*setting.spec)) {
    session.add(setting);
    return std::make_unique<Trial>(session, problem);
  }
  session.add(setting, [setting](const Problem& one, const DeviceInfo& device) {
    return plan_sgemm(*setting.spec, setting.tunables, one, with_few_groups(device));
  });
  const Family& family = *setting.spec->family;
  const auto add_split = [&](bool clustered) {
    const bool packs = family.gains_from_packing();
    const ScheduleRequest request{setting.spec, setting.tunables, 2, clustered, packs, packs};
    const auto plan = [request](const Problem& one, const DeviceInfo& device) {
      const DeviceInfo few = with_few_groups(device);
      return lower(schedule_for(request, one, few), one, few);
    };
    session.add(setting, plan, true);
  };
  if (family.splits_k() && problem.batch_by == BatchBy::strides) {
    add_split(false);
    if (session.info().clusters && family.adds_in_clusters()) {
      add_split(true);
    }
  }
  return std::make_unique<Trial>(session, problem);
}

// Counts the memory that checking the settings takes.
MemoryNeed need_of(const std::vector<LadderSetting>& settings, const VerifyFlags& flags, Session& session) {
  MemoryNeed need;
  for (const LadderSetting& setting : settings) {
    for (const Problem& problem : problems_for(setting, flags, session.info())) {
      MemoryNeed one = judged_need(problem, session.info());
      plan(setting, problem, session)->add_workspaces(one);
      need = flags.no_guards ? need += one : larger(need, one);
    }
  }
  return need;
}

// A simulator may mistake a buffer for one that was freed.
using Kept = std::vector<std::pair<std::unique_ptr<Exam>, std::unique_ptr<Trial>>>;

// Adds the kernels of a plan that are not there yet, each after the one that it follows.
void merge(const std::vector<std::string>& launched, std::vector<std::string>& all) {
  std::ptrdiff_t place = 0;
  for (const std::string& kernel : launched) {
    auto found = std::ranges::find(all, kernel);
    if (found == all.end()) {
      found = all.insert(all.begin() + place, kernel);
    }
    place = found - all.begin() + 1;
  }
}

Outcome verify(const LadderSetting& setting, const VerifyFlags& flags, Session& session, Kept& kept) {
  const Guards guards = flags.no_guards ? Guards::none : Guards::bands;
  Outcome outcome;
  for (const Problem& problem : problems_for(setting, flags, session.info())) {
    auto trial = plan(setting, problem, session);
    auto exam = whole_exam(fill(problem, outcome.problems), guards, flags.gemm);
    trial->judge(*exam, [](const std::string&) {});
    for (const Row& row : trial->take_rows()) {
      if (row.is_broken) {
        outcome.fault = "it does not compile";
        outcome.refusal = row.missing;
        std::fprintf(stderr, "%s\n", row.missing.c_str());
        return outcome;
      }
      if (!row.missing.empty()) {
        outcome.unsupported = row.missing;
        return outcome;
      }
      ++outcome.problems;
      outcome.worst_error = std::max(outcome.worst_error, row.verdict.worst_error);
      merge(row.launched, outcome.launched);
      if (!row.right() && outcome.fault.empty()) {
        outcome.fault = describe(problem) + ": " + row.verdict.fault();
      }
    }
    if (flags.no_guards) {
      kept.emplace_back(std::move(exam), std::move(trial));
    }
  }
  return outcome;
}

std::vector<std::string> row_of(const LadderSetting& setting, const Outcome& outcome) {
  std::vector<std::string> row = {setting.spec->name,
                                  to_text(setting.distinct),
                                  join(outcome.launched, " "),
                                  std::to_string(outcome.problems),
                                  format("%.2f", outcome.worst_error),
                                  !outcome.unsupported.empty()
                                      ? "not supported here: needs " + outcome.unsupported
                                  : outcome.fault.empty() ? "ok"
                                                          : "WRONG: " + outcome.fault};
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
  if (!outcome.refusal.empty()) {
    json["does_not_compile"] = outcome.refusal;
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
  DeviceFlags device = flags.device;
  device.for_ladder = !flags.gemm;
  const ChosenDevice chosen = (flags.gemm ? device.choose() : device.choose_with_barriers()).front();
  Session session(chosen, {});
  const DeviceInfo& info = session.info();
  const std::vector<LadderSetting> settings = settings_for(flags, info);
  require_supported(flags.choice, settings, info);
  if (flags.size.given()) {
    require_memory(to_text(flags.size.shape()), need_of(settings, flags, session), info);
  }
  Progress progress;
  Table table = flags.gemm ? Table{} : Table{"rung"};
  for (const Table::Column& column : {left("kernel"), left("set"), left("launched"),
                                      Table::Column("problems"), Table::Column("error/bound"), left("")}) {
    table.add_column(column);
  }
  Json result = dated_head("duogemm.verify/1");
  result.update({{"device", to_json(info)},
                 {"precision", to_text(flags.precision.value_or(Precision::fp32))},
                 {"rows", Json::array()}});
  bool ok = true;
  Kept kept;
  Parts parts(settings.size());
  for (const LadderSetting& setting : settings) {
    progress.show(parts.next() + setting.spec->name);
    const Outcome outcome = verify(setting, flags, session, kept);
    ok = ok && outcome.fault.empty();
    table.add_row(row_of(setting, outcome));
    result["rows"].push_back(row_json(setting, outcome));
  }
  progress.clear();
  std::printf("%s%s%s", filled(info.name + " through " + info.runtime).c_str(),
              fma_text(session.fuses()).c_str(), table.text().c_str());
  const bool probes = !ok && session.fuses() && info.barriers;
  const std::string broken = !probes ? "" : broken_instructions(session.device(), session.queue());
  if (!broken.empty()) {
    std::printf(
        "%s",
        filled("The driver's arithmetic is not IEEE 754's, so that no kernel has the right bits: " + broken)
            .c_str());
  }
  flags.results.write(result);
  return ok ? 0 : 1;
}

}  // namespace

void add_verify_command(Program& program) {
  auto [command, flags] = add_command<VerifyFlags>(
      program, "verify", "Check every rung, or the library's kernels, on problems around the edges of tiles",
      run);
  flags.device.add_to(command);
  flags.size.add_to(command);
  add_kernels(command, flags.choice);
  add_tunables(command, flags.choice);
  CLI::Option* gemm =
      command.add_flag("--gemm", flags.gemm,
                       "The library's own kernels instead of the ladder: every transpose and kind of batch");
  add_precision(command, flags.precision)->needs(gemm);
  command
      .add_flag("--smallest-tiles", flags.choice.smallest_tiles,
                "The smallest tiles that the library's kernels can have")
      ->needs(gemm);
  command.add_flag(
      "--no-guards", flags.no_guards,
      "No guard bands around matrices, and nothing freed before the end: for a simulator that sees "
      "accesses outside of a buffer");
  flags.results.add_to(command);
}

}  // namespace duogemm::bench
