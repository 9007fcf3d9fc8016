#include "ladder.h"

#include <algorithm>

#include "kernel_source.h"

namespace duogemm {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(Status::invalid_argument, message); }

std::vector<const KernelSpec*> choose(const std::vector<std::string>& names) {
  std::vector<const KernelSpec*> chosen;
  std::string known;
  for (const KernelSpec& spec : registry()) {
    if (spec.rung.empty()) {
      continue;
    }
    known += (known.empty() ? "" : ", ") + spec.rung + " (" + spec.name + ")";
    const bool named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name == spec.rung || name == spec.name;
    });
    if (names.empty() || named) {
      chosen.push_back(&spec);
    }
  }
  for (const std::string& name : names) {
    if (std::none_of(chosen.begin(), chosen.end(),
                     [&](const KernelSpec* spec) { return name == spec->rung || name == spec->name; })) {
      reject("no kernel '" + name + "' in the ladder; there are " + known);
    }
  }
  return chosen;
}

// Those of `values` that the kernel has.
Tunables applicable(const Tunables& values, const std::vector<TunableDeclaration>& declared) {
  Tunables result;
  for (const TunableDeclaration& tunable : declared) {
    if (const auto found = values.find(tunable.name); found != values.end()) {
      result.insert(*found);
    }
  }
  return result;
}

LadderSetting make_setting(const KernelSpec& spec, const std::vector<TunableDeclaration>& declared,
                           Tunables overrides) {
  LadderSetting setting{&spec, settle(spec, overrides), {}};
  for (const TunableDeclaration& tunable : declared) {
    const int value = setting.tunables.at(tunable.name);
    if (value != tunable.standard) {
      setting.distinct[tunable.name] = value;
    }
  }
  return setting;
}

}  // namespace

std::vector<LadderSetting> ladder_settings(const LadderChoice& choice) {
  std::vector<LadderSetting> settings;
  Tunables unused = choice.set;
  for (const KernelSpec* spec : choose(choice.kernels)) {
    const std::vector<TunableDeclaration>& declared = load_kernel(spec->path).tunables;
    const Tunables set = applicable(choice.set, declared);
    Tunables overrides = applicable(choice.switches, declared);
    for (const auto& [name, value] : set) {
      overrides[name] = value;
      unused.erase(name);
    }
    settings.push_back(make_setting(*spec, declared, overrides));
    for (const Tunables& variant : set.empty() ? spec->variants : std::vector<Tunables>{}) {
      Tunables varied = overrides;
      varied.insert(variant.begin(), variant.end());
      settings.push_back(make_setting(*spec, declared, varied));
    }
  }
  if (!unused.empty()) {
    reject(unused.begin()->first + ": none of the chosen kernels has this tunable");
  }
  return settings;
}

void require_supported(const LadderChoice& choice, const std::vector<LadderSetting>& settings,
                       const DeviceInfo& device) {
  for (const LadderSetting& setting : settings) {
    const bool chosen = std::any_of(choice.set.begin(), choice.set.end(), [&](const auto& tunable) {
      return setting.tunables.contains(tunable.first);
    });
    const auto reason = unsupported_reason(*setting.spec, setting.tunables, device);
    if (chosen && reason) {
      reject(to_text(choice.set) + ": kernel " + setting.spec->name + " then needs " + *reason);
    }
  }
}

std::vector<Shape> edge_shapes(const Multiples& multiples) {
  const auto [m, n, k] = multiples;
  return {
      {1, 1, 1},
      {7, 7, 7},
      {m, n, k},
      {std::max<std::int64_t>(m - 1, 1), n + 1, k + 1},
      {m + 1, std::max<std::int64_t>(n - 1, 1), std::max<std::int64_t>(k - 1, 1)},
      {2 * m + 1, 2 * n + 1, 2 * k + 1},
      {2 * m, 2 * n, 4 * k},
      {127, 61, 83},
      {1, 131, 29},
      {131, 1, 29},
      {3, 5, 257},
  };
}

Comparison check_setting(const LadderSetting& setting, const HostProblem& host, const Oracle& oracle,
                         Device& device, Queue& queue, ProgramCache& programs) {
  const Plan plan = plan_ladder(*setting.spec, setting.tunables, host.problem, device.info());
  const SelfContainedPlan prepared(plan, device, programs);
  const GuardedOperands guarded(host, device, queue);
  prepared.enqueue(queue, guarded.operands());
  return guarded.compare(oracle, queue);
}

}  // namespace duogemm
