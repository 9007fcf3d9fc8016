#include "page/settings.h"

#include <cmath>
#include <limits>

#include "system/reject.h"

namespace duogemm::bench {
namespace {

// A multiple of every tile that there is.
constexpr std::int64_t large_size = 61440;

// How far apart two values are: a step for each doubling, and two between a switch's off and on.
double distance(int a, int b) {
  return a == b ? 0.0 : a == 0 || b == 0 ? 2.0 : std::abs(std::log2(static_cast<double>(a) / b));
}

double distance(const Tunables& a, const Tunables& b) {
  double sum = 0.0;
  for (const auto& [name, value] : a) {
    sum += distance(value, b.at(name));
  }
  return sum;
}

Tunables nearest_setting(const Rung& rung, const std::vector<TunableDeclaration>& tunables) {
  Tunables own = resolve(rung, {});
  if (fits_browser(rung, own, browser_local_bytes)) {
    return own;
  }
  double least = std::numeric_limits<double>::infinity();
  Tunables nearest;
  for_each_change(tunables, own, [&](const Tunables& changed) {
    const double far = distance(changed, own);
    if (far < least && fits_browser(rung, changed, browser_local_bytes)) {
      least = far;
      nearest = changed;
    }
  });
  if (nearest.empty()) {
    reject("kernel " + rung.name + " has no setting of two changes that a browser can run");
  }
  return nearest;
}

}  // namespace

Geometry work_group_of(const Rung& rung, const Tunables& tunables) {
  Geometry geometry = rung.geometry(large_size, large_size, tunables);
  for (const int dimension : {0, 1}) {
    geometry.groups[dimension] = static_cast<std::size_t>(large_size) / geometry.groups[dimension];
  }
  return geometry;
}

bool fits_browser(const Rung& rung, const Tunables& tunables, std::size_t local_bytes) {
  if (!keeps_rules(rung, tunables) || rung.local_bytes(tunables) > local_bytes) {
    return false;
  }
  const Extent local = rung.geometry(large_size, large_size, tunables).local;
  return local[0] * local[1] * local[2] <= static_cast<std::size_t>(browser_work_items);
}

std::vector<Tunables> browser_settings(const Rung& rung) {
  const std::vector<TunableDeclaration>& tunables = load_kernel(rung.path).tunables;
  std::vector<Tunables> settings{nearest_setting(rung, tunables)};
  for (const TunableDeclaration& tunable : tunables) {
    for (const int value : tunable.allowed) {
      Tunables changed = settings.front();
      changed[tunable.name] = value;
      if (changed != settings.front() && fits_browser(rung, changed, more_local_bytes)) {
        settings.push_back(changed);
      }
    }
  }
  return settings;
}

}  // namespace duogemm::bench
