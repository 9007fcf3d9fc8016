#include "kernel_spec.h"

#include <algorithm>
#include <tuple>

#include "kernel_source.h"
#include "rounding.h"

namespace duogemm {
namespace {

[[noreturn]] void reject(const std::string& message) { throw Error(Status::invalid_argument, message); }

const TunableDeclaration& find(const KernelSpec& spec, const std::vector<TunableDeclaration>& declared,
                               const std::string& name) {
  std::string known;
  for (const TunableDeclaration& tunable : declared) {
    if (tunable.name == name) {
      return tunable;
    }
    known += (known.empty() ? "" : ", ") + tunable.name;
  }
  reject(name + ": kernel " + spec.name + " has no such tunable; it has " + known);
}

const Rule* broken_rule(const KernelSpec& spec, const Tunables& tunables) {
  const auto found = std::find_if(spec.rules.begin(), spec.rules.end(),
                                  [&](const Rule& rule) { return !rule.holds(tunables); });
  return found == spec.rules.end() ? nullptr : &*found;
}

std::int64_t tile_volume(const KernelSpec& spec, const Tunables& tunables) {
  const Multiples tile = spec.tile(tunables);
  return tile.m * tile.n * tile.k;
}

std::size_t work_items(const KernelSpec& spec, const Tunables& tunables) {
  const Extent local = spec.geometry(1, 1, tunables).local;
  return local[0] * local[1] * local[2];
}

}  // namespace

Tunables settle(const KernelSpec& spec, const Tunables& overrides) {
  const std::vector<TunableDeclaration>& declared = load_kernel(spec.path).tunables;
  Tunables settled;
  for (const TunableDeclaration& tunable : declared) {
    settled[tunable.name] = tunable.standard;
  }
  for (const auto& [name, value] : overrides) {
    const TunableDeclaration& tunable = find(spec, declared, name);
    if (!tunable.allows(value)) {
      reject(name + "=" + std::to_string(value) + ": kernel " + spec.name + " allows " +
             tunable.allowed_text());
    }
    settled[name] = value;
  }
  if (const Rule* broken = broken_rule(spec, settled)) {
    reject(to_text(settled) + ": kernel " + spec.name + " needs " + broken->reason);
  }
  return settled;
}

Tunables settle_for(const KernelSpec& spec, Tunables chosen, const Problem& problem) {
  const std::optional<Tunables> dictated = spec.dictated(problem);
  if (!dictated) {
    reject("kernel " + spec.name + " does not take this problem");
  }
  for (const auto& [name, value] : *dictated) {
    chosen[name] = value;
  }
  const Tunables settled = settle(spec, chosen);
  if (problem.level == Reproducibility::everywhere && spec.reorders(settled)) {
    reject("kernel " + spec.name + " with " + to_text(settled) +
           " adds up k in another order than the level everywhere has");
  }
  return settled;
}

std::int64_t part_length(const KernelSpec& spec, const Tunables& tunables, std::int64_t k,
                         std::int64_t parts) {
  constexpr std::int64_t of_thin = 32;
  return round_up(ceil_div(k, parts), spec.thin ? of_thin : spec.tile(tunables).k);
}

bool keeps_rules(const KernelSpec& spec, const Tunables& tunables) {
  return broken_rule(spec, tunables) == nullptr;
}

std::vector<Tunables> legal_settings(const KernelSpec& spec) {
  std::vector<Tunables> settings(1);
  for (const TunableDeclaration& tunable : load_kernel(spec.path).tunables) {
    std::vector<Tunables> extended;
    for (const Tunables& setting : settings) {
      for (int value : tunable.allowed) {
        extended.push_back(setting);
        extended.back()[tunable.name] = value;
      }
    }
    settings = std::move(extended);
  }
  std::erase_if(settings, [&](const Tunables& setting) { return broken_rule(spec, setting) != nullptr; });
  return settings;
}

Tunables smallest_setting(const KernelSpec& spec, const Tunables& fixed) {
  const std::vector<TunableDeclaration>& declared = load_kernel(spec.path).tunables;
  Tunables best;
  for (const TunableDeclaration& tunable : declared) {
    const auto given = fixed.find(tunable.name);
    best[tunable.name] = given != fixed.end() ? given->second : tunable.standard;
  }
  // Step by step, by changing two tunables at once: there may be too many settings to look at all of them.
  const auto size = [&](const Tunables& t) {
    const bool legal = keeps_rules(spec, t);
    return std::tuple(!legal, legal ? tile_volume(spec, t) : 0, legal ? work_items(spec, t) : 0);
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const TunableDeclaration& one : declared) {
      for (const TunableDeclaration& other : declared) {
        for (const int value : fixed.contains(one.name) ? std::vector<int>{} : one.allowed) {
          for (const int second : fixed.contains(other.name) ? std::vector<int>{} : other.allowed) {
            Tunables changed = best;
            changed[one.name] = value;
            changed[other.name] = second;
            if (size(changed) < size(best)) {
              best = std::move(changed);
              smaller = true;
            }
          }
        }
      }
    }
  }
  if (!keeps_rules(spec, best)) {
    reject(to_text(fixed) + ": kernel " + spec.name + " has no legal setting with these");
  }
  return best;
}

std::optional<std::string> unsupported_reason(const KernelSpec& spec, const Tunables& tunables,
                                              const DeviceInfo& device) {
  if (const std::size_t count = work_items(spec, tunables); count > device.max_work_group) {
    return "a work-group of " + std::to_string(count) + " work-items; the device allows " +
           std::to_string(device.max_work_group);
  }
  const std::size_t bytes = spec.local_bytes(tunables);
  if (bytes > device.local_bytes) {
    return std::to_string(bytes) + " bytes of local memory; the device has " +
           std::to_string(device.local_bytes);
  }
  if (value_or(tunables, "USE_SHUFFLE", 0) != 0 && !device.shuffle) {
    return "USE_SHUFFLE; the device has no sub-group shuffle";
  }
  return std::nullopt;
}

const KernelSpec& find_kernel(std::string_view name) {
  std::string known;
  for (const KernelSpec& spec : registry()) {
    if (spec.name == name) {
      return spec;
    }
    known += (known.empty() ? "" : ", ") + spec.name;
  }
  reject("no kernel " + std::string(name) + "; there are " + known);
}

}  // namespace duogemm
