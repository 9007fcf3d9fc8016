#include "tune/field.h"

#include <algorithm>

#include "problem/precision.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t samples_as_seeds = 12;

// The tunables that the problem fixes and on which the kernel's time depends.
std::optional<Tunables> decisive(const KernelSpec& spec, const Problem& problem) {
  const int storage = spec.family->storage(problem);
  return storage < 0 ? std::nullopt
                     : std::optional(spec.family->storages()[static_cast<std::size_t>(storage)].timed);
}

// Says whether settings of the kernel are searched for operands of the kind.
bool is_searched(const KernelSpec& spec, const OperandKind& kind, const DeviceInfo& device) {
  return spec.family && spec.family->is_measured() && spec.family->runs_on(device.kind) &&
         spec.family->multiplies_in(kind.precision) &&
         spec.family->measured_on_skinny() == (kind.skinny != 0);
}

std::map<const KernelSpec*, SettingSpace> make_spaces(const OperandKind& kind, const DeviceInfo& device) {
  std::map<const KernelSpec*, SettingSpace> spaces;
  for (const KernelSpec& spec : registry()) {
    const auto fixed =
        is_searched(spec, kind, device) ? fixed_tunables(spec, edge_problems(kind).front()) : std::nullopt;
    if (fixed &&
        (kind.precision == Precision::fp32 || !unsupported_reason(spec, resolve(spec, *fixed), device))) {
      spaces.emplace(&spec, SettingSpace(spec, *fixed, device));
    }
  }
  return spaces;
}

void add_seed(Field& field, const KernelSpec* spec, const std::optional<Tunables>& tunables) {
  if (tunables) {
    field.seeds.push_back(std::make_shared<TriedSetting>(TriedSetting{{spec, *tunables, {}}}));
  }
}

// Settings that were best for operands of another kind are worth a try where nothing is known of this one.
void add_known(Field& field, const std::vector<Tuning>& known) {
  std::vector<std::pair<const KernelSpec*, Tunables>> same;
  std::vector<std::pair<const KernelSpec*, Tunables>> other;
  for (const Tuning& tuning : known) {
    for (const Calibration& calibration : tuning.calibrations) {
      const auto space = field.spaces.find(calibration.spec);
      const auto adopted =
          space == field.spaces.end() ? std::nullopt : space->second.adopt(calibration.tunables);
      if (adopted) {
        (*adopted == calibration.tunables ? same : other).emplace_back(calibration.spec, *adopted);
      }
    }
  }
  for (const auto& [spec, tunables] : same.empty() ? other : same) {
    add_seed(field, spec, tunables);
  }
}

void add_seeds(Field& field, const std::vector<Tuning>& known, Workbench& bench) {
  for (const auto& [spec, space] : field.spaces) {
    add_seed(field, spec, space.adopt({}));
  }
  // The library's choice for a CPU goes by no measurement. A GPU's kernels have been measured.
  for (const Probe& probe : field.probes) {
    if (bench.on_cpu()) {
      const Variant& chosen =
          *schedule_for(unmeasured_request(probe.problem, bench.info()), probe.problem, bench.info()).kernel;
      if (const auto space = field.spaces.find(chosen.spec); space != field.spaces.end()) {
        add_seed(field, space->first, space->second.adopt(chosen.tunables));
      }
    }
  }
  add_known(field, known);
  for (std::size_t i = 0; i < samples_as_seeds; ++i) {
    for (const auto& [spec, space] : field.spaces) {
      add_seed(field, spec, space.sample(bench.random));
    }
  }
}

// The shapes that were asked for are probes, too.
void add_shapes(std::vector<Field>& fields, const Workbench& bench) {
  const auto each = [&](const std::vector<NamedShape>& shapes, const auto& add) {
    for (const NamedShape& shape : shapes) {
      const auto field =
          std::ranges::find_if(fields, [&](const Field& of) { return of.includes(shape.problem); });
      if (field != fields.end() && bench.fits(shape.problem)) {
        add(*field, shape);
      }
    }
  };
  each(bench.options.shapes, [](Field& field, const NamedShape& shape) {
    field.probes.push_back({shape.label, shape.problem});
    field.best.emplace_back();
  });
  each(bench.options.judges,
       [](Field& field, const NamedShape& shape) { field.judges.push_back(shape.problem); });
}

}  // namespace

bool Field::includes(const Problem& problem) const {
  const Problem alike = edge_problems(kind).front();
  return std::ranges::all_of(spaces, [&](const auto& space) {
    return decisive(*space.first, problem) == decisive(*space.first, alike);
  });
}

std::set<SharedSetting> Field::members() const {
  std::set<SharedSetting> members;
  for (const std::vector<SharedSetting>& of_probe : best) {
    members.insert(of_probe.begin(), of_probe.end());
  }
  return members;
}

std::vector<Calibration> Field::calibrations() const {
  std::vector<Calibration> calibrations;
  for (const SharedSetting& member : members()) {
    calibrations.push_back(*member);
  }
  return calibrations;
}

double Field::incumbent(std::size_t probe) const {
  return best[probe].empty() ? infinity : best[probe].front()->scores.at(probe).seconds;
}

std::vector<Field> make_fields(Workbench& bench, const std::vector<Tuning>& known) {
  std::vector<Field> fields;
  const std::vector<std::string>& ops = bench.options.ops;
  for (const OperandKind& kind : operand_kinds(bench.options.precision)) {
    const bool asked = ops.empty() || std::ranges::find(ops, kind.name().substr(0, 2)) != ops.end();
    if (!asked || field_of(fields, edge_problems(kind).front()) != nullptr) {
      continue;
    }
    Field field{.kind = kind, .probes = make_probes(kind), .spaces = make_spaces(kind, bench.info())};
    std::erase_if(field.probes, [&](const Probe& probe) { return !bench.fits(probe.problem); });
    field.best.resize(field.probes.size());
    if (!field.spaces.empty()) {
      add_seeds(field, known, bench);
      fields.push_back(std::move(field));
    }
  }
  if (fields.empty()) {
    throw Error(Status::unsupported,
                bench.info().name + " has no kernels for " + to_text(bench.options.precision));
  }
  add_shapes(fields, bench);
  return fields;
}

const Field* field_of(const std::vector<Field>& fields, const Problem& problem) {
  const auto found =
      std::ranges::find_if(fields, [&](const Field& field) { return field.includes(problem); });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace duogemm::bench
