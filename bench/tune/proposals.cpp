#include "tune/proposals.h"

#include <algorithm>

namespace duogemm::bench {
namespace {

constexpr int attempts = 50;
constexpr std::size_t neighbours = 3;

SharedSetting make_setting(const KernelSpec* spec, const std::optional<Tunables>& tunables) {
  return tunables ? std::make_shared<TriedSetting>(TriedSetting{{spec, *tunables, {}}}) : nullptr;
}

}  // namespace

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
  while (!field.seeds.empty()) {
    SharedSetting seed = field.seeds.front();
    field.seeds.pop_front();
    if (is_new(field, *seed)) {
      return seed;
    }
  }
  for (int i = 0; i < attempts; ++i) {
    SharedSetting child = breed(field);
    if (child && !hopeless(field, *child) && is_new(field, *child)) {
      return child;
    }
  }
  return nullptr;
}

SharedSetting Proposals::breed(Field& field) {
  const auto chance = [&](int percent) { return static_cast<int>(random_() % 100) < percent; };
  // One time in six, the parent has proved itself on operands of another kind.
  const Field& home = chance(17) ? fields_[random_() % fields_.size()] : field;
  const SharedSetting* found = parent(home);
  if (found == nullptr || !field.spaces.contains((*found)->spec) || chance(8)) {
    const auto& [spec, space] =
        *std::next(field.spaces.begin(), static_cast<std::ptrdiff_t>(random_() % field.spaces.size()));
    return make_setting(spec, space.sample(random_));
  }
  const TriedSetting& chosen = **found;
  const SettingSpace& space = field.spaces.at(chosen.spec);
  return make_setting(chosen.spec,
                      &home != &field ? space.adopt(chosen.tunables) : draw(field, space, chosen));
}

std::optional<Tunables> Proposals::draw(const Field& field, const SettingSpace& space,
                                        const TriedSetting& of) {
  const SharedSetting* other = parent(field);
  if (random_() % 4 == 0 && other != nullptr && (*other)->spec == of.spec) {
    return space.cross(of.tunables, (*other)->tunables, random_);
  }
  return space.mutate(of.tunables, random_);
}

// One of the best of any probe; the very best of it most often.
const SharedSetting* Proposals::parent(const Field& field) {
  for (int i = 0; i < attempts; ++i) {
    const std::vector<SharedSetting>& best = field.best[random_() % field.best.size()];
    if (!best.empty()) {
      return &best[std::min(random_() % best.size(), random_() % best.size())];
    }
  }
  return nullptr;
}

// By those of its neighbours that were looked at.
bool Proposals::hopeless(const Field& field, const TriedSetting& setting) {
  const SettingSpace& space = field.spaces.at(setting.spec);
  std::vector<std::pair<double, double>> near;  // distance, quality
  for (const SharedSetting& known : field.looked_at) {
    if (known->spec == setting.spec) {
      near.emplace_back(space.distance(known->tunables, setting.tunables), known->quality);
    }
  }
  if (near.size() < 10 * neighbours || random_() % 10 == 0) {
    return false;
  }
  std::partial_sort(near.begin(), near.begin() + neighbours, near.end());
  return std::all_of(near.begin(), near.begin() + neighbours,
                     [](const auto& neighbour) { return neighbour.second > hopeless_quality; });
}

bool Proposals::is_new(const Field& field, const TriedSetting& setting) {
  return proposed_.insert(field.kind.name() + name_of(setting)).second;
}

}  // namespace duogemm::bench
