#include "ladder/ladder.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>

#include "families/kernel_source.h"
#include "plan/lower.h"
#include "problem/rounding.h"
#include "support/format.h"
#include "support/nearest.h"
#include "system/reject.h"

namespace duogemm {
namespace {

constexpr const char* planned_name = "duogemm";

using IsOffered = std::function<bool(const KernelSpec&)>;

// A rung does, and so do the library's kernels that compute products.
bool multiplies(const KernelSpec& spec) {
  return as_rung(spec) || (spec.family && !spec.family->computes(Problem::packed(1, 1, 1, 0.0f)));
}

bool is_called(const KernelSpec& spec, const std::string& name) {
  return name == spec.name || (!name.empty() && name == label_of(spec));
}

std::vector<const KernelSpec*> kernels_that(const IsOffered& are_offered) {
  std::vector<const KernelSpec*> kernels = all_kernels();
  std::erase_if(kernels, [&](const KernelSpec* spec) { return !are_offered(*spec); });
  return kernels;
}

// Picks from those that `where` ("the ladder") offers, all when none is named.
std::vector<const KernelSpec*> choose(const std::vector<std::string>& names, const std::string& where,
                                      const IsOffered& is_offered) {
  const std::vector<const KernelSpec*> offered = kernels_that(is_offered);
  std::vector<const KernelSpec*> chosen = offered;
  std::erase_if(chosen, [&](const KernelSpec* spec) {
    return !names.empty() &&
           std::ranges::none_of(names, [&](const std::string& name) { return is_called(*spec, name); });
  });
  for (const std::string& name : names) {
    if (std::ranges::none_of(chosen, [&](const KernelSpec* spec) { return is_called(*spec, name); })) {
      std::vector<std::string> names;
      std::ranges::transform(offered, std::back_inserter(names),
                             [](const KernelSpec* spec) { return spec->name; });
      reject("no kernel '" + name + "' in " + where + bench::suggestion(name, names) + "; there are " +
             bench::join(offered, ", ", [](const KernelSpec* spec) {
               return as_rung(*spec) ? label_of(*spec) + " (" + spec->name + ")" : spec->name;
             }));
    }
  }
  return chosen;
}

LadderSetting make_setting(const KernelSpec& spec, const Tunables& overrides) {
  LadderSetting setting{&spec, resolve(spec, overrides), {}};
  for (const TunableDeclaration& tunable : load_kernel(spec.path).tunables) {
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

// Throws invalid_argument unless one of the kernels leaves each of these to the user.
void require_tunables(const std::vector<const KernelSpec*>& kernels, const Tunables& set) {
  std::set<std::string> names;
  for (const KernelSpec* spec : kernels) {
    for (const TunableDeclaration& tunable : load_kernel(spec->path).tunables) {
      if (!is_fixed(*spec, tunable.name)) {
        names.insert(tunable.name);
      }
    }
  }
  for (const auto& given : set) {
    const std::string& name = given.first;
    if (!names.contains(name)) {
      const bool fixed =
          std::ranges::any_of(kernels, [&](const KernelSpec* spec) { return is_fixed(*spec, name); });
      reject(name + (fixed ? ": each problem decides it"
                           : ": none of the chosen kernels has this tunable" +
                                 bench::suggestion(name, {names.begin(), names.end()}) + "; they have " +
                                 (names.empty() ? "none" : bench::join(names))));
    }
  }
}

std::vector<LadderSetting> settings_of(const std::vector<const KernelSpec*>& kernels,
                                       const LadderChoice& choice) {
  std::vector<LadderSetting> settings;
  for (const KernelSpec* spec : kernels) {
    const std::vector<TunableDeclaration>& declared = load_kernel(spec->path).tunables;
    Tunables set = applicable(choice.set, declared);
    erase_if(set, [&](const auto& tunable) { return is_fixed(*spec, tunable.first); });
    Tunables overrides = set;
    const Tunables switches = applicable(choice.switches, declared);
    overrides.insert(switches.begin(), switches.end());
    if (choice.smallest_tiles && spec->family) {
      overrides = smallest_setting(*spec, overrides);
    }
    settings.push_back(make_setting(*spec, overrides));
    const Rung* rung = as_rung(*spec);
    for (const Tunables& variant : rung&& set.empty() ? rung->variants : std::vector<Tunables>{}) {
      Tunables varied = overrides;
      varied.insert(variant.begin(), variant.end());
      settings.push_back(make_setting(*spec, varied));
    }
  }
  require_tunables(kernels, choice.set);
  return settings;
}

// Alpha and beta.
constexpr std::pair<float, float> scalars[] = {{1.0f, 0.0f}, {2.0f, -1.0f}, {-1.0f, 1.0f}};

enum class BatchKind { none, strided, listed };

// The number chooses gaps between columns and between matrices, and whether a batch shares A or B.
Problem store(Problem p, BatchKind kind, std::size_t number) {
  const std::int64_t gap = static_cast<std::int64_t>(number % 3);
  p.lda = std::max<std::int64_t>(p.a_rows(), 1) + gap;
  p.ldb = std::max<std::int64_t>(p.b_rows(), 1) + (gap + 1) % 3;
  p.ldc = p.m + (gap + 2) % 3;
  if (kind == BatchKind::none) {
    return p;
  }
  const bool strided = kind == BatchKind::strided;
  p.a_stride = strided && number % 4 != 1 ? p.a_extent() + gap : 0;
  p.b_stride = strided && number % 4 != 2 ? p.b_extent() + gap : 0;
  p.c_stride = strided ? p.c_extent() + gap : 1;
  p.batch = 3;
  p.batch_by = strided ? BatchBy::strides : BatchBy::offsets;
  return p;
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
  return settings_of(choose(choice.kernels, "the ladder", as_rung), choice);
}

std::vector<LadderSetting> ladder_settings(const LadderChoice& choice) {
  LadderChoice kernels = choice;
  const bool planned = std::erase(kernels.kernels, planned_name) > 0;
  std::vector<LadderSetting> settings;
  if (!kernels.kernels.empty()) {
    settings = settings_of(choose(kernels.kernels, "the ladder or the library", multiplies), kernels);
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
  const auto is_of_library = [](const KernelSpec& spec) { return spec.family != nullptr; };
  return settings_of(choose(choice.kernels, "the library", is_of_library), choice);
}

LadderSetting kernel_setting(const std::string& kernel, const Tunables& set, const Tunables& switches) {
  return settings_of(choose({kernel}, "the ladder or the library", multiplies), {{}, set, switches}).front();
}

Plan plan_setting(const LadderSetting& setting, const Problem& problem, const DeviceInfo& device) {
  const Rung* rung = setting.planned ? nullptr : as_rung(*setting.spec);
  if (rung == nullptr && device.ladder_only) {
    throw Error(Status::unsupported,
                "a runtime of the library; through " + device.backend + " the ladder alone runs");
  }
  Problem own = problem;
  own.precision = setting.precision;
  if (setting.planned) {
    own.level = setting.precision == Precision::fp32 ? Reproducibility::everywhere : problem.level;
    return plan_sgemm(own, device);
  }
  return rung ? plan_ladder(*rung, setting.tunables, problem, device)
              : plan_sgemm(*setting.spec, setting.tunables, own, device);
}

void shrink_to(const DeviceInfo& device, const LadderChoice& choice, std::vector<LadderSetting>& settings) {
  for (LadderSetting& setting : settings) {
    const Rung* rung = setting.planned ? nullptr : as_rung(*setting.spec);
    if (rung == nullptr || !device.barriers || !unsupported_reason(*rung, setting.tunables, device)) {
      continue;
    }
    std::vector<TunableDeclaration> free = load_kernel(rung->path).tunables;
    std::erase_if(free, [&](const TunableDeclaration& tunable) {
      const auto is_it = [&](const auto& each) { return each.first == tunable.name; };
      return choice.set.contains(tunable.name) || std::ranges::any_of(build_tunables(), is_it);
    });
    // The larger tile, then what is changed less, then more work-items.
    const auto rank = [&](const Tunables& tunables) {
      const Multiples tile = rung->multiples(tunables);
      const Extent local = variant_of(*rung, tunables).local;
      const auto kept = std::ranges::count_if(
          tunables, [&](const auto& each) { return each.second == setting.tunables.at(each.first); });
      return std::tuple(tile.m * tile.n * tile.k, kept, local[0] * local[1]);
    };
    std::optional<Tunables> best;
    for_each_change(free, setting.tunables, [&](const Tunables& changed) {
      if (keeps_rules(*rung, changed) && !unsupported_reason(*rung, changed, device) &&
          (!best || rank(changed) > rank(*best))) {
        best = changed;
      }
    });
    if (best) {
      setting = make_setting(*rung, *best);
    }
  }
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

Multiples tile_of(const Plan& plan, const Shape& problem) {
  const Step& step = plan.steps[plan.multiply];
  const Rung* rung = as_rung(*step.kernel->spec);
  if (!rung) {
    return step.kernel->tile;
  }
  const auto part = [&](std::int64_t size, std::size_t dimension) {
    return ceil_div(size, static_cast<std::int64_t>(step.geometry.groups[dimension]));
  };
  return {part(problem.m, rung->row_major ? 1 : 0), part(problem.n, rung->row_major ? 0 : 1),
          rung->multiples(step.kernel->tunables).k};
}

double flops_per_byte(const Multiples& tile) {
  const auto m = static_cast<double>(tile.m);
  const auto n = static_cast<double>(tile.n);
  return 2.0 * m * n / (sizeof(float) * (m + n));
}

double bytes_of(const Shape& problem) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  return sizeof(float) * (m * k + k * n + m * n);
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

std::vector<Problem> ladder_problems(const std::vector<Shape>& shapes) {
  std::vector<Problem> problems;
  for (const Shape& shape : shapes) {
    const auto [alpha, beta] = scalars[problems.size() % 3];
    problems.push_back(Problem::packed(shape.m, shape.n, shape.k, alpha, beta));
  }
  return problems;
}

std::vector<Problem> library_problems(const std::vector<Shape>& shapes) {
  std::vector<Problem> problems;
  for (const auto& [m, n, k] : shapes) {
    for (BatchKind kind : {BatchKind::none, BatchKind::strided, BatchKind::listed}) {
      const auto add = [&](const Problem& p) { problems.push_back(store(p, kind, problems.size())); };
      for (Transpose a_op : {Transpose::no, Transpose::yes}) {
        for (Transpose b_op : {Transpose::no, Transpose::yes}) {
          const auto [alpha, beta] = scalars[problems.size() % 3];
          Problem problem = Problem::packed(m, n, k, alpha, beta);
          problem.a_op = a_op;
          problem.b_op = b_op;
          add(problem);
        }
      }
      Problem factors_in_memory = Problem::packed(m, n, k, 1.0f, 1.0f);
      factors_in_memory.device_scalars = true;
      add(factors_in_memory);
      add(Problem::packed(m, n, k, 0.0f, 0.0f));
      add(Problem::packed(m, n, k, 0.0f, 2.0f));
      add(Problem::packed(m, n, 0, 1.0f, -1.0f));
    }
  }
  return problems;
}

HostProblem fill(const Problem& problem, std::size_t number) {
  constexpr Distribution distributions[] = {Distribution::integers, Distribution::signed_unit,
                                            Distribution::unit, Distribution::wide_range};
  return random_problem(problem, distributions[number % 4], static_cast<std::uint32_t>(number));
}

std::string describe(const Problem& p) {
  std::string text = "M=" + std::to_string(p.m) + " N=" + std::to_string(p.n) + " K=" + std::to_string(p.k) +
                     " alpha=" + bench::format("%g", p.alpha) + " beta=" + bench::format("%g", p.beta);
  text += p.a_op == Transpose::yes ? ", A transposed" : "";
  text += p.b_op == Transpose::yes ? ", B transposed" : "";
  text += p.device_scalars ? ", factors in memory" : "";
  const bool strided = p.batch_by == BatchBy::strides;
  return text + (p.batch <= 1 ? "" : strided ? ", a batch by strides" : ", a batch by offsets");
}

}  // namespace duogemm
