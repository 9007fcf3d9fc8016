// What the tuner looks at next.
#include <algorithm>

#include "tune/tuner_limits.h"

namespace duogemm::bench {
namespace {

constexpr int attempts_to_propose = 50;
constexpr std::size_t neighbours = 3;

}  // namespace

// Gives every thread something to compile, and something to go on with.
void Tuner::fill(CompilePool& pool) {
  std::size_t in_vain = 0;
  while (pool.pending() < 2 * options_.threads && in_vain < fields_.size()) {
    in_vain = propose(pool) ? 0 : in_vain + 1;
  }
}

// Whether there was anything left to propose.
bool Tuner::propose(CompilePool& pool) {
  const std::size_t field = turn_++ % fields_.size();
  const Shared candidate = next(fields_[field]);
  if (candidate) {
    const std::size_t id = counts_.proposed++;
    jobs_[id] = {field, candidate};
    pool.add({id, candidate->spec, candidate->tunables});
  }
  return candidate != nullptr;
}

Tuner::Shared Tuner::next(Field& field) {
  while (!field.seeds.empty()) {
    Shared seed = field.seeds.front();
    field.seeds.pop_front();
    if (is_new(field, *seed)) {
      return seed;
    }
  }
  for (int i = 0; i < attempts_to_propose; ++i) {
    Shared candidate = breed(field);
    if (!hopeless(field, *candidate) && is_new(field, *candidate)) {
      return candidate;
    }
  }
  return nullptr;
}

Tuner::Shared Tuner::breed(Field& field) {
  const auto chance = [&](int percent) { return static_cast<int>(random_() % 100) < percent; };
  // One time in six, the parent has proved itself on operands of another kind.
  const Field& home = chance(17) ? fields_[random_() % fields_.size()] : field;
  const Shared* found = parent(home);
  if (found == nullptr || !field.spaces.contains((*found)->spec) || chance(8)) {
    auto space =
        std::next(field.spaces.begin(), static_cast<std::ptrdiff_t>(random_() % field.spaces.size()));
    return std::make_shared<Candidate>(
        Candidate{{space->first, space->second.sample(random_).value_or(*space->second.adopt({})), {}}});
  }
  const Candidate& chosen = **found;
  const SettingSpace& space = field.spaces.at(chosen.spec);
  const std::optional<Tunables> adopted = space.adopt(chosen.tunables);
  const std::optional<Tunables> drawn = &home != &field ? adopted : draw(field, space, chosen);
  return std::make_shared<Candidate>(Candidate{{chosen.spec, drawn.value_or(chosen.tunables), {}}});
}

std::optional<Tunables> Tuner::draw(Field& field, const SettingSpace& space, const Candidate& parent_of) {
  const Shared* other = parent(field);
  if (random_() % 4 == 0 && other != nullptr && (*other)->spec == parent_of.spec) {
    return space.cross(parent_of.tunables, (*other)->tunables, random_);
  }
  return space.mutate(parent_of.tunables, random_);
}

// One of the best of any probe; the very best of it most often.
const Tuner::Shared* Tuner::parent(const Field& field) {
  for (int i = 0; i < attempts_to_propose; ++i) {
    const std::vector<Shared>& best = field.best[random_() % field.best.size()];
    if (!best.empty()) {
      return &best[std::min(random_() % best.size(), random_() % best.size())];
    }
  }
  return nullptr;
}

// By those of its neighbours that were looked at.
bool Tuner::hopeless(const Field& field, const Candidate& candidate) {
  const SettingSpace& space = field.spaces.at(candidate.spec);
  std::vector<std::pair<double, double>> near;  // distance, quality
  for (const Shared& known : field.looked_at) {
    if (known->spec == candidate.spec) {
      near.emplace_back(space.distance(known->tunables, candidate.tunables), known->quality);
    }
  }
  if (near.size() < 10 * neighbours || random_() % 10 == 0) {
    return false;
  }
  std::partial_sort(near.begin(), near.begin() + neighbours, near.end());
  return std::all_of(near.begin(), near.begin() + neighbours,
                     [](const auto& neighbour) { return neighbour.second > hopeless_quality; });
}

bool Tuner::is_new(const Field& field, const Candidate& candidate) {
  return proposed_.insert(field.kind.name() + name_of(*candidate.spec, candidate.tunables)).second;
}

}  // namespace duogemm::bench
