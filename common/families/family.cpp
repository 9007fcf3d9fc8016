#include "families/family.h"

#include <algorithm>

#include "families/kernel_spec.h"
#include "plan/lower.h"
#include "plan/tuning.h"

namespace duogemm {

Family::Family(const std::vector<Tunables>& fixed, const std::vector<std::string>& untimed) {
  for (const Tunables& each : fixed) {
    Storage storage{each, each};
    erase_if(storage.timed, [&](const auto& tunable) {
      return std::find(untimed.begin(), untimed.end(), tunable.first) != untimed.end();
    });
    storages_.push_back(std::move(storage));
  }
}

bool Family::decides(std::string_view tunable) const {
  return is_measured() && std::ranges::all_of(storages_, [&](const Storage& storage) {
           return storage.fixed.contains(tunable);
         });
}

Answer<const Variant*> Family::variant(const KernelSpec& spec, const Tunables& asked,
                                       const Problem& problem) const {
  return try_variant(spec, asked, problem);
}

std::vector<Calibration> Family::calculated(const KernelSpec&, const UnmeasuredGpu&) const { return {}; }

Plan Family::lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) const {
  return lower_in_tiles(schedule, problem, device);
}

std::vector<const Variant*> Family::companions(const Variant&) const { return {}; }

}  // namespace duogemm
