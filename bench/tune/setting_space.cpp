#include "tune/setting_space.h"

#include <algorithm>
#include <cmath>

#include "families/kernel_source.h"

namespace duogemm::bench {
namespace {

constexpr int most_attempts = 5000;

std::size_t below(std::size_t end, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
}

std::ptrdiff_t index_of(const TunableDeclaration& tunable, int value) {
  return std::ranges::find(tunable.allowed, value) - tunable.allowed.begin();
}

}  // namespace

SettingSpace::SettingSpace(const KernelSpec& spec, const Tunables& fixed, const DeviceInfo& device)
    : spec_(spec), device_(device), fixed_(fixed) {
  for (const TunableDeclaration& tunable : load_kernel(spec.path).tunables) {
    if (!fixed.contains(tunable.name)) {
      open_.push_back(tunable);
    }
  }
}

// Changes `from` until it is another that keeps the rules.
template <typename Change>
std::optional<Tunables> SettingSpace::draw(const Tunables& from, const Change& change) const {
  for (int i = 0; i < most_attempts && !open_.empty(); ++i) {
    Tunables drawn = from;
    change(drawn);
    if (drawn != from && legal(drawn)) {
      return drawn;
    }
  }
  return std::nullopt;
}

std::optional<Tunables> SettingSpace::sample(Random& random) const {
  return draw(fixed_, [&](Tunables& drawn) {
    for (const TunableDeclaration& tunable : open_) {
      drawn[tunable.name] = tunable.allowed[below(tunable.allowed.size(), random)];
    }
  });
}

std::optional<Tunables> SettingSpace::mutate(const Tunables& from, Random& random) const {
  return draw(from, [&](Tunables& drawn) {
    const std::size_t changes = 1 + below(3, random);  // the third for rules that couple tunables
    for (std::size_t i = 0; i < changes; ++i) {
      // Three times in four to a neighbouring value.
      const TunableDeclaration& tunable = open_[below(open_.size(), random)];
      const std::size_t count = tunable.allowed.size();
      std::size_t to = below(count, random);
      if (below(4, random) != 0) {
        const auto now = static_cast<std::size_t>(index_of(tunable, drawn.at(tunable.name)));
        to = std::min(below(2, random) == 0 ? now + 1 : now - std::min<std::size_t>(now, 1), count - 1);
      }
      drawn[tunable.name] = tunable.allowed[to];
    }
  });
}

std::optional<Tunables> SettingSpace::cross(const Tunables& one, const Tunables& other,
                                            Random& random) const {
  return draw(one, [&](Tunables& drawn) {
    for (const TunableDeclaration& tunable : open_) {
      if (below(2, random) == 0) {
        drawn[tunable.name] = other.at(tunable.name);
      }
    }
  });
}

std::optional<Tunables> SettingSpace::adopt(const Tunables& from) const {
  Tunables adopted = fixed_;
  for (const TunableDeclaration& tunable : open_) {
    const auto found = from.find(tunable.name);
    adopted[tunable.name] =
        found != from.end() && tunable.allows(found->second) ? found->second : tunable.standard;
  }
  return legal(adopted) ? std::optional(adopted) : std::nullopt;
}

double SettingSpace::distance(const Tunables& one, const Tunables& other) const {
  double sum = 0.0;
  for (const TunableDeclaration& tunable : open_) {
    const auto steps = index_of(tunable, one.at(tunable.name)) - index_of(tunable, other.at(tunable.name));
    sum += std::abs(static_cast<double>(steps)) / static_cast<double>(tunable.allowed.size());
  }
  return sum;
}

bool SettingSpace::legal(const Tunables& tunables) const {
  return keeps_rules(spec_, tunables) && !unsupported_reason(spec_, tunables, device_);
}

}  // namespace duogemm::bench
