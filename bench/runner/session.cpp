#include "runner/session.h"

namespace duogemm::bench {
namespace {

// Kernels that are to be explained are compiled anew.
DiskCache disk_for(const Conditions& conditions) {
  return DiskCache(conditions.device_options.explain ? std::filesystem::path() : cache_directory());
}

}  // namespace

Session::Session(const ChosenDevice& chosen, const Conditions& conditions)
    : runtime_(chosen.backend->open(chosen.index, conditions.device_options), disk_for(conditions)),
      queue_(device().create_queue()),
      programs_(device(), disk_for(conditions)),
      graph_(conditions.graph && info().backend == "cuda"),
      callers_(conditions.callers) {
  if (conditions.cold) {
    cold_.emplace(device(), *queue_);
  }
}

void Session::add(const LadderSetting& setting, Entry::MakePlan plan, bool is_split) {
  const std::string label = label_of(setting);
  Entry entry{.setting = setting,
              .plan = std::move(plan),
              .is_split = is_split,
              .spares = Entry::Spares::unsupported};
  entry.title =
      (as_rung(*setting.spec) ? "rung " : "") + (label.empty() ? "" : label + " ") + setting.spec->name;
  if (!entry.plan) {
    entry.plan = [setting](const Problem& problem, const DeviceInfo& device) {
      return plan_setting(setting, problem, device);
    };
  }
  entries_.push_back(std::move(entry));
}

void Session::add(std::unique_ptr<ReferenceLibrary> library, Entry entry) {
  entry.title = entry.title.empty() ? library->title() : entry.title;
  entry.name = library->name();
  entry.library = library.get();
  entries_.push_back(std::move(entry));
  libraries_.push_back(std::move(library));
}

void Session::clear_caches() {
  if (cold_) {
    cold_->clear();
  }
}

}  // namespace duogemm::bench
