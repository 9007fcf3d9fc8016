#include "tune/field.h"

#include <algorithm>

namespace duogemm::bench {
namespace {

constexpr std::size_t samples_as_seeds = 12;
constexpr int attempts = 50;

// The tunables that the problem fixes and on which the kernel's time depends.
std::optional<Tunables> decisive(const KernelSpec& spec, const Problem& problem) {
  const int storage = spec.family->storage(problem);
  return storage < 0 ? std::nullopt
                     : std::optional(spec.family->storages()[static_cast<std::size_t>(storage)].timed);
}

SharedSetting make_setting(const KernelSpec* spec, const std::optional<Tunables>& tunables) {
  return tunables ? std::make_shared<TriedSetting>(TriedSetting{{spec, *tunables, {}}}) : nullptr;
}

// One of the best of any probe; the very best of it most often.
const TriedSetting* parent_in(const Field& field, Random& random) {
  for (int i = 0; i < attempts && !field.probes.empty(); ++i) {
    const std::vector<Probe::Score>& best = field.probes[random() % field.probes.size()].best;
    if (!best.empty()) {
      return best[std::min(random() % best.size(), random() % best.size())].setting.get();
    }
  }
  return nullptr;
}

// By those of its neighbours that were looked at.
bool is_hopeless(const TriedSetting& setting, const Field& field, Random& random) {
  constexpr std::size_t neighbours = 3;
  const SettingSpace& space = field.spaces.at(setting.spec);
  std::vector<std::pair<double, double>> near;  // distance, quality
  for (const SharedSetting& known : field.looked_at) {
    if (known->spec == setting.spec) {
      near.emplace_back(space.distance(known->tunables, setting.tunables), known->quality);
    }
  }
  if (near.size() < 10 * neighbours || random() % 10 == 0) {
    return false;
  }
  std::partial_sort(near.begin(), near.begin() + neighbours, near.end());
  return std::all_of(near.begin(), near.begin() + neighbours,
                     [](const auto& neighbour) { return neighbour.second > hopeless_quality; });
}

}  // namespace

bool fits(const Problem& problem, const DeviceInfo& device) {
  const auto bytes = [](std::int64_t elements) { return static_cast<std::size_t>(elements) * sizeof(float); };
  const std::size_t a = bytes(problem.a_extent());
  const std::size_t b = bytes(problem.b_extent());
  const std::size_t c = bytes(problem.c_extent());
  return std::max({a, b, c}) <= device.max_allocation_bytes && a + b + c <= device.memory_bytes / 4;
}

Field make_field(const OperandKind& kind, const DeviceInfo& device) {
  Field field{.kind = kind};
  for (const NamedShape& shape : make_probes(kind)) {
    if (fits(shape.problem, device)) {
      field.probes.push_back({shape.label, shape.problem});
    }
  }
  for (const KernelSpec& spec : registry()) {
    if (!spec.family || !spec.family->is_measured() || !spec.family->runs_on(device.kind) ||
        !spec.family->multiplies_in(kind.precision) ||
        spec.family->measured_on_skinny() != (kind.skinny != 0)) {
      continue;
    }
    const auto fixed = fixed_tunables(spec, edge_problems(kind).front());
    if (fixed &&
        (kind.precision == Precision::fp32 || !unsupported_reason(spec, resolve(spec, *fixed), device))) {
      field.spaces.emplace(&spec, SettingSpace(spec, *fixed, device));
    }
  }
  return field;
}

Field* field_of(std::vector<Field>& fields, const Problem& problem) {
  const auto found =
      std::ranges::find_if(fields, [&](const Field& field) { return field.includes(problem); });
  return found == fields.end() ? nullptr : &*found;
}

bool Field::includes(const Problem& problem) const {
  const Problem alike = edge_problems(kind).front();
  return std::ranges::all_of(spaces, [&](const auto& space) {
    return decisive(*space.first, problem) == decisive(*space.first, alike);
  });
}

std::set<SharedSetting> Field::members() const {
  std::set<SharedSetting> members;
  for (const Probe& probe : probes) {
    for (const Probe::Score& score : probe.best) {
      members.insert(score.setting);
    }
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

void Field::add_seeds(const std::vector<Tuning>& known, const DeviceInfo& device, Random& random) {
  const auto adopt = [&](const KernelSpec* spec, const Tunables& tunables) {
    const auto space = spaces.find(spec);
    return make_setting(spec, space == spaces.end() ? std::nullopt : space->second.adopt(tunables));
  };
  for (const auto& [spec, space] : spaces) {
    seeds.push_back(adopt(spec, {}));
  }
  // The library's choice for a CPU goes by no measurement. A GPU's kernels have been measured.
  for (const Probe& probe : probes) {
    if (device.kind == DeviceKind::cpu) {
      const Variant& chosen =
          *schedule_for(unmeasured_request(probe.problem, device), probe.problem, device).kernel;
      seeds.push_back(adopt(chosen.spec, chosen.tunables));
    }
  }
  // Settings that were best for operands of another kind are worth a try where nothing is known of this one.
  std::vector<SharedSetting> same;
  std::vector<SharedSetting> other;
  for (const Tuning& tuning : known) {
    for (const Calibration& calibration : tuning.calibrations) {
      if (SharedSetting adopted = adopt(calibration.spec, calibration.tunables)) {
        (adopted->tunables == calibration.tunables ? same : other).push_back(std::move(adopted));
      }
    }
  }
  std::ranges::copy(same.empty() ? other : same, std::back_inserter(seeds));
  for (std::size_t i = 0; i < samples_as_seeds; ++i) {
    for (const auto& [spec, space] : spaces) {
      seeds.push_back(make_setting(spec, space.sample(random)));
    }
  }
  std::erase(seeds, nullptr);
}

std::vector<Proposals::Proposal> Proposals::next(std::size_t count) {
  std::vector<Proposal> proposals;
  for (std::size_t in_vain = 0; proposals.size() < count && in_vain < fields_.size();) {
    Field& field = fields_[turn_++ % fields_.size()];
    if (SharedSetting setting = propose(field)) {
      proposals.push_back({&field, std::move(setting)});
      in_vain = 0;
    } else {
      ++in_vain;
    }
  }
  return proposals;
}

SharedSetting Proposals::propose(Field& field) {
  const auto is_new = [&](const TriedSetting& setting) {
    return proposed_.insert(field.kind.name() + name_of(setting)).second;
  };
  while (!field.seeds.empty()) {
    SharedSetting seed = field.seeds.front();
    field.seeds.pop_front();
    if (is_new(*seed)) {
      return seed;
    }
  }
  for (int i = 0; i < attempts; ++i) {
    SharedSetting child = breed(field);
    if (child && !is_hopeless(*child, field, random_) && is_new(*child)) {
      return child;
    }
  }
  return nullptr;
}

SharedSetting Proposals::breed(Field& field) {
  const auto chance = [&](int percent) { return static_cast<int>(random_() % 100) < percent; };
  // One time in six, the parent has proved itself on operands of another kind.
  const Field& home = chance(17) ? fields_[random_() % fields_.size()] : field;
  const TriedSetting* one = parent_in(home, random_);
  if (one == nullptr || !field.spaces.contains(one->spec) || chance(8)) {
    const auto& [spec, space] =
        *std::next(field.spaces.begin(), static_cast<std::ptrdiff_t>(random_() % field.spaces.size()));
    return make_setting(spec, space.sample(random_));
  }
  const SettingSpace& space = field.spaces.at(one->spec);
  if (&home != &field) {
    return make_setting(one->spec, space.adopt(one->tunables));
  }
  const TriedSetting* other = parent_in(field, random_);
  return make_setting(one->spec,
                      other != nullptr && other != one && other->spec == one->spec && random_() % 4 == 0
                          ? space.cross(one->tunables, other->tunables, random_)
                          : space.mutate(one->tunables, random_));
}

}  // namespace duogemm::bench
