#include "arena.h"

#include <algorithm>

namespace duogemm::bench {
Arena::Arena(const ChosenDevice& chosen, const Conditions& conditions)
    : runtime_(chosen.backend->open(chosen.index, {})),
      queue_(device().create_queue()),
      libraries_(all_libraries(device(), *queue_)),
      graph_(conditions.graph && info().backend == "cuda") {
  std::erase_if(libraries_, [&](const auto& library) {
    return conditions.against && std::find(conditions.against->begin(), conditions.against->end(),
                                           library->title()) == conditions.against->end();
  });
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
