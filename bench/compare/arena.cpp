#include "compare/arena.h"

#include <algorithm>

namespace duogemm::bench {

Arena::Arena(const ChosenDevice& chosen, const Conditions& conditions, std::size_t devices)
    : runtime_(chosen.backend->open(chosen.index, {})),
      queue_(device().create_queue()),
      own_(make_own_library(conditions.through, runtime_, *queue_, conditions.precision)),
      libraries_(conditions.through == Through::device ? all_libraries(device(), *queue_)
                                                       : libraries_on_host(info())),
      graph_(conditions.graph && info().backend == "cuda"),
      devices_(devices),
      callers_(conditions.callers) {
  if (conditions.precision != Precision::fp32 && conditions.through == Through::device) {
    for (auto& library : libraries_in_other_precisions(device(), *queue_)) {
      libraries_.push_back(std::move(library));
    }
  }
  std::erase_if(libraries_, [&](const auto& library) {
    return conditions.against && std::find(conditions.against->begin(), conditions.against->end(),
                                           library->title()) == conditions.against->end();
  });
  for (const std::string& folder : conditions.kernels) {
    libraries_.push_back(make_library_of_kernels(folder, device(), *queue_));
  }
  if (conditions.cold) {
    cold_.emplace(device(), *queue_);
  }
}

void Arena::clear_caches() {
  if (cold_) {
    cold_->clear();
  }
}

}  // namespace duogemm::bench
