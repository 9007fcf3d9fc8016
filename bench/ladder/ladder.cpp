#include "ladder/ladder.h"

#include <algorithm>
#include <functional>
#include <set>

#include "families/kernel_source.h"
#include "plan/lower.h"
#include "support/format.h"
#include "system/reject.h"

namespace duogemm {
namespace {

// Kernels that a user may choose from.
struct Offer {
  std::vector<const KernelSpec*> kernels;
  const char* where;  // "the ladder"

  std::string text() const {
    return bench::join(kernels, ", ", [](const KernelSpec* spec) {
      return as_rung(*spec) ? label_of(*spec) + " (" + spec->name + ")" : spec->name;
    });
  }
};

constexpr const char* planned_name = "duogemm";

// A rung does, and so do the library's kernels that compute products.
bool multiplies(const KernelSpec& spec) {
  return as_rung(spec) || (spec.family && !spec.family->computes(Problem::packed(1, 1, 1, 0.0f)));
}

Offer offer(const char* where, const std::function<bool(const KernelSpec&)>& is_offered) {
  Offer result{{}, where};
  std::ranges::copy_if(all_kernels(), std::back_inserter(result.kernels),
                       [&](const KernelSpec* spec) { return is_offered(*spec); });
  return result;
}

bool is_called(const KernelSpec& spec, const std::string& name) {
  return name == spec.name || (!name.empty() && name == label_of(spec));
}

std::vector<const KernelSpec*> choose(const std::vector<std::string>& names, const Offer& offer) {
  for (const std::string& name : names) {
    if (std::none_of(offer.kernels.begin(), offer.kernels.end(),
                     [&](const KernelSpec* spec) { return is_called(*spec, name); })) {
      reject("no kernel '" + name + "' in " + offer.where + "; there are " + offer.text());
    }
  }
  std::vector<const KernelSpec*> chosen = offer.kernels;
  std::erase_if(chosen, [&](const KernelSpec* spec) {
    return !names.empty() && std::none_of(names.begin(), names.end(),
                                          [&](const std::string& name) { return is_called(*spec, name); });
  });
  return chosen;
}

LadderSetting make_setting(const KernelSpec& spec, const std::vector<TunableDeclaration>& declared,
                           Tunables overrides) {
  LadderSetting setting{&spec, resolve(spec, overrides), {}};
  for (const TunableDeclaration& tunable : declared) {
    const int value = setting.tunables.at(tunable.name);
    if (value != tunable.standard) {
      setting.distinct[tunable.name] = value;
    }
  }
  return setting;
}

// Some tunables are for the problems to decide, and not for the user.
bool is_fixed(const KernelSpec& spec, const std::string& name) {
  return spec.family && spec.family->decides(name);
}

// Names those of all the kernels together.
std::string tunable_names(const std::vector<const KernelSpec*>& kernels) {
  std::set<std::string> names;
  for (const KernelSpec* spec : kernels) {
    for (const TunableDeclaration& tunable : load_kernel(spec->path).tunables) {
      if (!is_fixed(*spec, tunable.name)) {
        names.insert(tunable.name);
      }
    }
  }
  return names.empty() ? "none" : bench::join(names);
}

std::vector<LadderSetting> settings_of(const Offer& offer, const LadderChoice& choice) {
  std::vector<LadderSetting> settings;
  Tunables unused = choice.set;
  const std::vector<const KernelSpec*> chosen = choose(choice.kernels, offer);
  for (const KernelSpec* spec : chosen) {
    const std::vector<TunableDeclaration>& declared = load_kernel(spec->path).tunables;
    Tunables set = applicable(choice.set, declared);
    erase_if(set, [&](const auto& tunable) { return is_fixed(*spec, tunable.first); });
    Tunables overrides = applicable(choice.switches, declared);
    for (const auto& [name, value] : set) {
      overrides[name] = value;
      unused.erase(name);
    }
    if (choice.smallest_tiles && spec->family) {
      overrides = smallest_setting(*spec, overrides);
    }
    settings.push_back(make_setting(*spec, declared, overrides));
    const Rung* rung = as_rung(*spec);
    for (const Tunables& variant : rung&& set.empty() ? rung->variants : std::vector<Tunables>{}) {
      Tunables varied = overrides;
      varied.insert(variant.begin(), variant.end());
      settings.push_back(make_setting(*spec, declared, varied));
    }
  }
  for (const auto& tunable : unused) {
    if (std::any_of(chosen.begin(), chosen.end(),
                    [&](const KernelSpec* spec) { return is_fixed(*spec, tunable.first); })) {
      reject(tunable.first + ": each problem decides it");
    }
  }
  if (!unused.empty()) {
    reject(unused.begin()->first + ": none of the chosen kernels has this tunable; they have " +
           tunable_names(chosen));
  }
  return settings;
}

}  // namespace

std::string label_of(const LadderSetting& setting) {
  return setting.planned ? planned_name : label_of(*setting.spec);
}

bool reorders(const LadderSetting& setting) {
  const Rung* rung = as_rung(*setting.spec);
  return rung ? rung->bf16_products > 0 || rung->splits(setting.tunables) > 1
              : setting.spec->family->reorders(setting.tunables);
}

std::vector<LadderSetting> rung_settings(const LadderChoice& choice) {
  return settings_of(offer("the ladder", as_rung), choice);
}

std::vector<LadderSetting> ladder_settings(const LadderChoice& choice) {
  LadderChoice kernels = choice;
  const bool planned = std::erase(kernels.kernels, planned_name) > 0;
  std::vector<LadderSetting> settings;
  if (!kernels.kernels.empty()) {
    settings = settings_of(offer("the ladder or the library", multiplies), kernels);
  } else if (!planned) {
    settings = rung_settings(kernels);
  }
  if (planned) {
    settings.push_back(planned_setting());
  }
  return settings;
}

LadderSetting planned_setting() {
  const KernelSpec& spec = registry().front();  // the planner chooses another for each problem
  return {&spec, resolve(spec, {}), {}, true};
}

std::vector<LadderSetting> library_settings(const LadderChoice& choice) {
  return settings_of(offer("the library", [](const KernelSpec& spec) { return spec.family != nullptr; }),
                     choice);
}

LadderSetting kernel_setting(const std::string& kernel, const Tunables& set, const Tunables& switches) {
  const Offer all = offer("the ladder or the library", multiplies);
  const LadderChoice choice{{kernel}, set, switches};
  const bool is_rung = as_rung(*choose({kernel}, all).front());
  return (is_rung ? ladder_settings(choice) : library_settings(choice)).front();
}

Plan plan_setting(const LadderSetting& setting, const Problem& problem, const DeviceInfo& device) {
  Problem own = problem;
  own.precision = setting.precision;
  if (setting.planned) {
    own.level = setting.precision == Precision::fp32 ? Reproducibility::everywhere : problem.level;
    return plan_sgemm(own, device);
  }
  const Rung* rung = as_rung(*setting.spec);
  return rung ? plan_ladder(*rung, setting.tunables, problem, device)
              : plan_sgemm(*setting.spec, setting.tunables, own, device);
}

void require_supported(const LadderChoice& choice, const std::vector<LadderSetting>& settings,
                       const DeviceInfo& device) {
  for (const LadderSetting& setting : settings) {
    const bool chosen = !setting.planned && std::ranges::any_of(choice.set, [&](const auto& tunable) {
      return setting.tunables.contains(tunable.first);
    });
    const auto reason = unsupported_reason(*setting.spec, setting.tunables, device);
    if (chosen && reason) {
      reject(to_text(choice.set) + ": kernel " + setting.spec->name + " then needs " + *reason);
    }
  }
}

std::string to_text(const Shape& shape) {
  return "m=" + std::to_string(shape.m) + " n=" + std::to_string(shape.n) + " k=" + std::to_string(shape.k);
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

}  // namespace duogemm
