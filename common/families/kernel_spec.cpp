#include "families/kernel_spec.h"

#include <algorithm>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "problem/precision.h"

namespace duogemm {
namespace {

// Names the first of `overrides` that the kernel does not have.
[[noreturn]] void reject_unknown(const KernelSpec& spec, const Tunables& resolved,
                                 const Tunables& overrides) {
  const auto unknown =
      std::ranges::find_if(overrides, [&](const auto& each) { return !resolved.contains(each.first); });
  std::string known;
  for (const TunableDeclaration& tunable : load_kernel(spec.path).tunables) {
    known += (known.empty() ? "" : ", ") + tunable.name;
  }
  reject(unknown->first + ": kernel " + spec.name + " has no such tunable; it has " + known);
}

const Rule* broken_rule(const KernelSpec& spec, const Tunables& tunables) {
  const auto found =
      std::ranges::find_if(spec.rules, [&](const Rule& rule) { return !rule.holds(tunables); });
  return found == spec.rules.end() ? nullptr : &*found;
}

Multiples tile_of(const KernelSpec& spec, const Tunables& tunables) {
  return spec.family ? spec.family->tile(tunables) : Multiples{};
}

bool reorders(const KernelSpec& spec, const Tunables& tunables) {
  return spec.family && spec.family->reorders(tunables);
}

// A setting serves all problems if it is legal with whatever they fix; one that fixes nothing is among them.
bool serves_all_problems(const KernelSpec& spec, const Tunables& tunables) {
  return keeps_rules(spec, tunables) &&
         (!spec.family || std::ranges::all_of(spec.family->storages(), [&](const Storage& storage) {
           Tunables fixed = storage.fixed;
           fixed.insert(tunables.begin(), tunables.end());
           return keeps_rules(spec, fixed);
         }));
}

// Illegal settings are the largest.
auto size_of(const KernelSpec& spec, const Tunables& tunables) {
  if (!keeps_rules(spec, tunables)) {
    return std::tuple(true, std::int64_t{0}, std::size_t{0});
  }
  const Multiples tile = tile_of(spec, tunables);
  const Extent local = spec.geometry(1, 1, tunables).local;
  return std::tuple(false, tile.m * tile.n * tile.k, local[0] * local[1] * local[2]);
}

// With 255 registers for each work-item, of 64 Ki, and 227 KiB of local memory; or as many as it asks for.
double surely_resident(const Tunables& tunables, const Extent& local, std::size_t local_bytes) {
  constexpr std::size_t registers = 65536;
  constexpr std::size_t memory = 227 * 1024;
  const std::size_t by_registers = registers / (256 * local[0] * local[1]);
  const std::size_t by_memory = memory / (local_bytes + 1024);
  const int asked = value_or(tunables, "RESIDENT", 0);
  return std::max({static_cast<double>(std::min(by_registers, by_memory)), static_cast<double>(asked), 1.0});
}

// It looks at the values alone: variants of a kernel have the same names.
struct HashOfVariant {
  std::size_t operator()(const std::pair<const KernelSpec*, Tunables>& key) const {
    std::size_t hash = std::hash<const KernelSpec*>()(key.first);
    for (const auto& [name, value] : key.second) {
      hash = hash * 31 + static_cast<std::size_t>(value);
    }
    return hash;
  }
};

// "8.0"
std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

Variant make_variant(const KernelSpec& spec, const Tunables& tunables) {
  const Geometry geometry = spec.geometry(1, 1, tunables);
  const std::size_t local_bytes = spec.local_bytes(tunables);
  return {&spec,
          tunables,
          tile_of(spec, tunables),
          geometry.local,
          local_bytes,
          geometry.dynamic_local_bytes > 0,
          reorders(spec, tunables),
          value_or(tunables, "USE_SHUFFLE", 0) != 0,
          load_kernel(spec.path).needs,
          surely_resident(tunables, geometry.local, local_bytes)};
}

}  // namespace

bool KernelSpec::is_planned() const { return family && !family->storages().empty(); }

Tunables resolve(const KernelSpec& spec, const Tunables& overrides) {
  const std::vector<TunableDeclaration>& declared = load_kernel(spec.path).tunables;
  Tunables resolved;
  resolved.reserve(declared.size());
  std::size_t known = 0;
  for (const TunableDeclaration& tunable : declared) {
    const auto found = overrides.find(tunable.name);
    const bool overridden = found != overrides.end();
    if (overridden && !tunable.allows(found->second)) {
      reject(to_text({*found}) + ": kernel " + spec.name + " allows " + tunable.allowed_text());
    }
    known += overridden;
    resolved.emplace(tunable.name, overridden ? found->second : tunable.standard);
  }
  if (known < overrides.size()) {
    reject_unknown(spec, resolved, overrides);
  }
  if (const Rule* broken = broken_rule(spec, resolved)) {
    reject(to_text(resolved) + ": kernel " + spec.name + " needs " + broken->reason);
  }
  return resolved;
}

std::optional<Tunables> fixed_tunables(const KernelSpec& spec, const Problem& problem) {
  const int storage = spec.family ? spec.family->storage(problem) : -1;
  return storage < 0 ? std::nullopt
                     : std::optional(spec.family->storages()[static_cast<std::size_t>(storage)].fixed);
}

const Variant& variant_for(const KernelSpec& spec, const Tunables& chosen, const Problem& problem) {
  std::optional<Tunables> fixed = fixed_tunables(spec, problem);
  if (!fixed) {
    reject("kernel " + spec.name + " does not take this problem");
  }
  fixed->insert(chosen.begin(), chosen.end());
  const Tunables resolved = resolve(spec, *fixed);
  if (problem.is_invariant() && spec.family->multiplies_in(Precision::fp32) && reorders(spec, resolved)) {
    reject("kernel " + spec.name + " with " + to_text(resolved) +
           " adds up k in another order than the level " + to_text(problem.level) + " has");
  }
  return variant_of(spec, resolved);
}

const Variant& variant_of(const KernelSpec& spec, const Tunables& tunables) {
  static std::mutex& mutex = *new std::mutex;
  static auto& variants =
      *new std::unordered_map<std::pair<const KernelSpec*, Tunables>, Variant, HashOfVariant>;
  const std::lock_guard lock(mutex);
  const auto found = variants.find({&spec, tunables});
  return found != variants.end()
             ? found->second
             : variants.emplace(std::pair(&spec, tunables), make_variant(spec, tunables)).first->second;
}

bool keeps_rules(const KernelSpec& spec, const Tunables& tunables) {
  return broken_rule(spec, tunables) == nullptr;
}

void for_each_change(const std::vector<TunableDeclaration>& tunables, const Tunables& from,
                     const std::function<void(const Tunables& changed)>& look) {
  for (const TunableDeclaration& one : tunables) {
    for (const TunableDeclaration& other : tunables) {
      for (const int value : one.allowed) {
        for (const int second : other.allowed) {
          Tunables changed = from;
          changed[one.name] = value;
          changed[other.name] = second;
          look(changed);
        }
      }
    }
  }
}

Tunables smallest_setting(const KernelSpec& spec, const Tunables& fixed) {
  std::vector<TunableDeclaration> free = load_kernel(spec.path).tunables;
  Tunables best;
  for (const TunableDeclaration& tunable : free) {
    best[tunable.name] = value_or(fixed, tunable.name, tunable.standard);
  }
  std::erase_if(free, [&](const TunableDeclaration& tunable) { return fixed.contains(tunable.name); });
  // Step by step, because there may be too many settings to look at all of them.
  bool serves = serves_all_problems(spec, best);
  for (bool smaller = true; smaller;) {
    smaller = false;
    for_each_change(free, best, [&](const Tunables& changed) {
      if ((!serves || size_of(spec, changed) < size_of(spec, best)) && serves_all_problems(spec, changed)) {
        best = changed;
        serves = smaller = true;
      }
    });
  }
  if (!serves) {
    reject(to_text(fixed) + ": kernel " + spec.name + " has no legal setting with these");
  }
  return best;
}

const BuiltProgram* find_program(const DeviceInfo& device, std::string_view kernel,
                                 const Tunables& tunables) {
  const auto found = std::ranges::find_if(*device.programs, [&](const BuiltProgram& program) {
    return program.kernel == kernel && std::ranges::equal(program.tunables, tunables);
  });
  return found == device.programs->end() ? nullptr : &*found;
}

std::vector<Tunables> built_settings(const KernelSpec& spec, const DeviceInfo& device) {
  std::vector<Tunables> settings;
  for (const BuiltProgram& program : *device.programs) {
    if (program.kernel != spec.name) {
      continue;
    }
    Tunables setting(program.tunables.begin(), program.tunables.end());
    erase_if(setting,
             [&](const auto& tunable) { return spec.family && spec.family->decides(tunable.first); });
    if (std::ranges::find(settings, setting) == settings.end()) {
      settings.push_back(std::move(setting));
    }
  }
  return settings;
}

std::optional<std::string> unsupported_reason(const Variant& kernel, const DeviceInfo& device) {
  const bool is_built = device.programs != nullptr && kernel.spec->family != nullptr;
  if (is_built && find_program(device, kernel.spec->name, kernel.tunables) == nullptr) {
    std::string has;
    for (const Tunables& setting : built_settings(*kernel.spec, device)) {
      has += (has.empty() ? "" : ", ") + to_text(setting);
    }
    const std::string owner = "the " + device.backend + " device has ";
    return has.empty() ? "another device: " + owner + "no program of it"
                       : "another setting: " + owner + "no program with " + to_text(kernel.tunables) +
                             "; it has " + has;
  }
  const std::size_t items = kernel.local[0] * kernel.local[1] * kernel.local[2];
  if (items > device.max_work_group) {
    return "a work-group of " + std::to_string(items) + " work-items; the device allows " +
           std::to_string(device.max_work_group);
  }
  const auto [capability, alone, starts_early] = kernel.needs;
  if (device.compute_capability < capability || (device.compute_capability > capability && alone)) {
    return "an NVIDIA device of compute capability " + capability_text(capability) +
           (alone ? " and no other" : "") +
           (device.is_nvidia() ? "; this one has " + capability_text(device.compute_capability) : "");
  }
  if (!device.barriers && items > 1 && kernel.local_bytes > 0) {
    return "barriers, which an OpenCL driver for the CPU has";
  }
  const std::size_t has = kernel.dynamic_local ? device.dynamic_local_bytes : device.local_bytes;
  if (kernel.local_bytes > has) {
    return std::to_string(kernel.local_bytes) + " bytes of local memory; the device has " +
           std::to_string(has);
  }
  if (kernel.shuffles && !device.shuffle) {
    return "USE_SHUFFLE; the device has no sub-group shuffle";
  }
  return std::nullopt;
}

std::optional<std::string> unsupported_reason(const KernelSpec& spec, const Tunables& tunables,
                                              const DeviceInfo& device) {
  return unsupported_reason(make_variant(spec, tunables), device);
}

UnmeasuredGpu::UnmeasuredGpu(const DeviceInfo& of)
    : device(of),
      units(static_cast<double>(std::max<std::size_t>(of.compute_units, 1))),
      clock(1e6 * (of.clock_mhz > 0 ? static_cast<double>(of.clock_mhz) : 1500.0)) {
  lanes = lanes_of_unit(of.compute_capability);
  // What an H100 and an H200 reach of what their memory's clock and width have.
  constexpr double reached = 0.91;
  // In single precision, for each byte that memory has: most of NVIDIA's, and those with wider memory.
  constexpr int wide[] = {60, 70, 80, 90, 100, 103};
  const bool is_wide = !of.is_nvidia() || std::ranges::find(wide, of.compute_capability) != std::end(wide);
  const double operations_per_byte = is_wide ? 18.0 : 45.0;
  constexpr double lanes_of_most = 128.0;
  const double promised = of.memory_bandwidth > 0 ? static_cast<double>(of.memory_bandwidth)
                                                  : 2.0 * lanes_of_most * clock * units / operations_per_byte;
  reading = reached * promised;
  bandwidth = written_share * reading;
}

Calibration UnmeasuredGpu::calibration(const Variant& kernel, int most_groups, double work,
                                       double rate) const {
  constexpr double busy_items = 256.0;  // work-items that it takes to keep a unit busy
  const auto items = static_cast<double>(kernel.local[0] * kernel.local[1]);
  Calibration calibration{kernel.spec, kernel.tunables, {}};
  for (int groups = 1; groups <= most_groups; groups *= 2) {
    const double busy = std::min(1.0, groups * items / busy_items);
    calibration.timings.push_back({groups, fixed, groups * work / (rate * busy)});
  }
  return calibration;
}

std::span<const KernelSpec> registry() {
  static const std::vector<KernelSpec> kernels = [] {
    std::vector<KernelSpec> all;
    for (const auto family :
         {tiled_kernels, direct_kernels, skinny_kernels, cpu_kernels, supporting_kernels, tensor_kernels}) {
      for (KernelSpec& kernel : family()) {
        all.push_back(std::move(kernel));
      }
    }
    return all;
  }();
  return kernels;
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

const KernelSpec& find_gemm_kernel(std::string_view name) {
  const KernelSpec& spec = find_kernel(name);
  if (!spec.is_planned()) {
    reject(spec.name + " is not a production kernel");
  }
  return spec;
}

Family::Family(const std::vector<Tunables>& fixed, const std::vector<std::string>& untimed) {
  for (const Tunables& each : fixed) {
    Storage storage{each, each};
    for (const std::string& tunable : untimed) {
      storage.timed.erase(tunable);
    }
    storages_.push_back(std::move(storage));
  }
}

bool Family::decides(std::string_view tunable) const {
  return is_fixed_by_storage() && std::ranges::all_of(storages_, [&](const Storage& storage) {
           return storage.fixed.contains(tunable);
         });
}

}  // namespace duogemm
