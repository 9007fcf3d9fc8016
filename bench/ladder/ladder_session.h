// A device's part in a run of the ladder, from planning to report.
#pragma once

#include "check/judge.h"
#include "ladder/ladder_run.h"
#include "timing/cold_caches.h"

namespace duogemm::bench {

class LadderSession {
 public:
  LadderSession(const LadderRequest& request, const ChosenDevice& chosen);
  Device& device() { return *device_; }
  // Compiles and allocates; a setting that the device cannot run says so in its row.
  void prepare(const HostProblem& host, Progress& progress);
  void check(const Judge& judge, Progress& progress);
  // Adds this device's contenders; take_samples expects their samples in the same order.
  void add_contenders(std::vector<Contender>& contenders);
  void take_samples(std::vector<Samples>::iterator& next);
  void measure_abilities();
  void note_state_before() { report_.gpu_before = query_gpu(device_->info().pci_bus); }
  void note_states(const std::vector<GpuMoment>& moments);
  LadderReport take_report() { return std::move(report_); }

 private:
  std::string label(std::size_t i) const;
  // Calls `work`; when it says that the device cannot run setting i, the row keeps the reason.
  void supported(std::size_t i, const std::function<void()>& work);
  // The library works on the ladder's operands, or on its own where it wants them in the host's memory.
  void prepare_library(const HostProblem& host);
  bool stopped() const { return stop_ != nullptr && *stop_; }
  GuardedOperands& operands_of_library() {
    return operands_for_library_ ? *operands_for_library_ : *operands_;
  }
  void plan(const Problem& problem);
  std::size_t set_count(const Problem& problem) const;
  void clear_caches();
  std::function<double(int)> timed(std::function<void(const PreparedPlan::Operands&)> enqueue);

  const std::atomic<bool>* const stop_;
  const bool each_step_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  ProgramCache programs_;
  std::vector<std::optional<Plan>> plans_;
  std::optional<ColdCaches> cold_;
  std::optional<GuardedOperands> operands_;
  std::vector<std::unique_ptr<SelfContainedPlan>> prepared_;  // null where unsupported
  std::unique_ptr<ReferenceLibrary> library_;
  std::optional<GuardedOperands> operands_for_library_;
  std::unique_ptr<Reference> reference_;
  LadderReport report_;
};

}  // namespace duogemm::bench
