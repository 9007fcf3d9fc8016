// All that a planner knows before a problem comes, and what it answers without any prediction.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "families/kernel_parts.h"
#include "plan/scaling.h"
#include "plan/select.h"
#include "problem/precision.h"

namespace duogemm {
namespace {

// A calibration with these tunables may tell how long the kernel takes for operands that are stored so.
bool applies_to(const Calibration& calibration, const Storage& storage) {
  return std::ranges::all_of(storage.timed, [&](const auto& tunable) {
    const auto found = calibration.tunables.find(tunable.first);
    return found != calibration.tunables.end() && found->second == tunable.second;
  });
}

// Adds calculated times of the kernels that multiply in FP32, or of the others.
void add_calculated(Tuning& tuning, const UnmeasuredGpu& gpu, bool in_fp32) {
  for (const KernelSpec& spec : registry()) {
    if (spec.family && spec.family->multiplies_in(Precision::fp32) == in_fp32) {
      std::ranges::move(spec.family->calculated(spec, gpu), std::back_inserter(tuning.calibrations));
    }
  }
}

Tuning with_tensor_cores(Tuning tuning, const DeviceInfo& device) {
  const auto multiplies_terms = [&](const Calibration& calibration) {
    return !calibration.spec->family->multiplies_in(Precision::fp32) &&
           !unsupported_reason(*calibration.spec, calibration.tunables, device);
  };
  if (std::ranges::none_of(tuning.calibrations, multiplies_terms)) {
    add_calculated(tuning, UnmeasuredGpu(device), false);
  }
  return tuning;
}

}  // namespace

Tuning tuning_or_analytic(const DeviceInfo& device) {
  const Tuning& known = tuning_for(device);
  if (device.kind == DeviceKind::cpu) {
    return known;
  }
  if (!known.calibrations.empty()) {
    return with_tensor_cores(known, device);
  }
  if (const Tuning* const another = tuning_of_another(device)) {
    return with_tensor_cores(scaled(*another, device), device);
  }
  const UnmeasuredGpu gpu(device);
  Tuning tuning;
  tuning.source = "calculated";
  tuning.reading = gpu.reading;
  tuning.bandwidth = gpu.bandwidth;
  tuning.launch = gpu.launch;
  add_calculated(tuning, gpu, true);
  return with_tensor_cores(std::move(tuning), device);
}

Tuning tuning_without(const KernelSpec& kernel, const DeviceInfo& device) {
  Tuning tuning = tuning_or_analytic(device);
  std::erase_if(tuning.calibrations, [&](const Calibration& each) { return each.spec == &kernel; });
  return with_tensor_cores(std::move(tuning), device);
}

Planner::Planner(const DeviceInfo& device) : Planner(device, tuning_or_analytic(device)) {}

Planner::Planner(const DeviceInfo& device, Tuning tuning)
    : device_(device),
      tuning_(std::move(tuning)),
      facts_(tuning_, device_),
      packs_and_reduces_(std::ranges::none_of(packs_and_reductions(), [&](const Variant* kernel) {
        return unsupported_reason(*kernel, device_).has_value();
      })) {
  for (const Calibration& calibration : tuning_.calibrations) {
    add(calibration);
  }
}

void Planner::add(const Calibration& calibration) {
  const KernelSpec& spec = *calibration.spec;
  const std::vector<Storage>& storages = spec.family->storages();
  if (!spec.family->is_measured() || !spec.family->runs_on(device_.kind)) {
    return;
  }
  auto kernel = std::ranges::find(kernels_, &spec, &Kernel::spec);
  if (kernel == kernels_.end()) {
    kernel = kernels_.insert(kernels_.end(), {&spec, std::vector<std::vector<Candidate>>(storages.size())});
  }
  for (std::size_t i = 0; i < storages.size(); ++i) {
    Tunables tunables = storages[i].fixed;
    tunables.insert(calibration.tunables.begin(), calibration.tunables.end());
    if (!applies_to(calibration, storages[i]) || !keeps_rules(spec, tunables)) {
      continue;
    }
    const Variant& variant = variant_of(spec, tunables);
    if (!unsupported_reason(variant, device_)) {
      const Candidate& candidate = kernel->candidates[i].emplace_back(variant, calibration, facts_);
      const auto products = static_cast<double>(variant.tile.m * variant.tile.n);
      if (spec.family->multiplies_in(Precision::fp32)) {
        least_per_product_ =
            std::min(least_per_product_, candidate.least_per_group / (products * facts_.units));
      }
    }
  }
}

std::optional<Schedule> Planner::forced(const Problem& problem) const {
  const char* text = std::getenv("DUOGEMM_FORCE");
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  ScheduleRequest request = parse_schedule(text);
  const KernelSpec& spec = *request.spec;
  if (!spec.family->multiplies_in(Precision::fp32) &&
      (problem.precision == Precision::fp32 ||
       unsupported_reason(spec, resolve(spec, request.tunables), device_))) {
    return std::nullopt;  // not permitted, or the permission is of no use
  }
  if (!may_split(*request.spec, problem)) {  // promises are kept
    request.splits = 1;
    request.clustered = false;
  } else if (problem.owed_splits() > 1 && request.splits > 1) {
    request.splits = problem.owed_splits();
    request.clustered = request.clustered && request.splits <= most_in_cluster;
  }
  request.pack_a = request.pack_a && may_pack(*request.spec, problem);
  request.pack_b = request.pack_b && may_pack(*request.spec, problem);
  Problem anyhow = problem;
  anyhow.level = Reproducibility::run_to_run;
  const bool reorders = schedule_for(request, anyhow, device_).kernel->reorders;
  const bool in_fp32 = spec.family->multiplies_in(Precision::fp32);
  return in_fp32 && (problem.owes_terms() || (problem.owes_chains() && reorders))
             ? std::nullopt
             : std::optional(schedule_for(request, problem, device_));
}

std::optional<Schedule> Planner::tuned(const Problem& problem) const {
  if (problem.precision != Precision::fp32) {
    return std::nullopt;  // shapes are measured in FP32
  }
  for (const TunedShape& shape : tuning_.shapes) {
    const bool splits = shape.request.splits > 1;
    if (shape.is_of(problem) && (!splits || may_split(*shape.request.spec, problem))) {
      try {
        Schedule schedule = schedule_for(shape.request, problem, device_);
        schedule.seconds = shape.seconds;
        return schedule;
      } catch (const Error&) {
        return std::nullopt;  // operands are stored otherwise than when it was measured
      }
    }
  }
  return std::nullopt;
}

Schedule Planner::fallback(const Problem& problem) const {
  return schedule_for(unmeasured_request(problem, device_), problem, device_);
}

std::optional<std::string> Planner::obstacle(const KernelSpec& spec, const Problem& problem) const {
  const Family& family = *spec.family;
  if (!family.runs_on(device_.kind)) {
    return "it is for " + std::string(device_.kind == DeviceKind::cpu ? "GPUs" : "CPUs");
  }
  if (!family.multiplies_in(problem.precision) && !family.multiplies_in(Precision::fp32)) {
    return "it multiplies in other precisions";
  }
  if (problem.k > family.longest_k()) {
    return "it is for sums of up to " + std::to_string(family.longest_k()) + " k";
  }
  if (const auto reason = unsupported_reason(spec, resolve(spec, {}), device_)) {
    return "it needs " + *reason;
  }
  if (problem.is_grouped() && !family.takes_groups()) {
    return "it takes no grouped products";
  }
  const int storage = family.storage(problem);
  if (storage < 0) {
    return "it does not take operands of these sizes, stored in this way";
  }
  if (!family.is_measured()) {
    return "it is chosen by the shape alone, where nothing was measured";
  }
  const auto kernel = std::ranges::find(kernels_, &spec, &Kernel::spec);
  if (kernel == kernels_.end() || kernel->candidates[static_cast<std::size_t>(storage)].empty()) {
    return "nothing was measured of it for operands stored in this way: duogemm tune does so";
  }
  if (problem.owes_terms() && family.multiplies_in(Precision::fp32)) {
    return "the level batch_invariant has tensor cores multiply";
  }
  if (problem.owes_chains() &&
      std::ranges::all_of(kernel->candidates[static_cast<std::size_t>(storage)],
                          [](const Candidate& candidate) { return candidate.kernel->reorders; })) {
    return "it adds up k in another order than the level " + std::string(to_text(problem.level)) + " has";
  }
  return std::nullopt;
}

std::vector<std::pair<const KernelSpec*, std::string>> Planner::left_out(const Problem& problem) const {
  std::vector<std::pair<const KernelSpec*, std::string>> kernels;
  for (const KernelSpec& spec : registry()) {
    if (spec.is_planned()) {
      if (auto reason = obstacle(spec, problem)) {
        kernels.emplace_back(&spec, std::move(*reason));
      }
    }
  }
  return kernels;
}

std::vector<const Variant*> Planner::kernels() const {
  std::set<const Variant*> all;
  for (const Kernel& kernel : kernels_) {
    for (const std::vector<Candidate>& candidates : kernel.candidates) {
      for (const Candidate& candidate : candidates) {
        all.insert(candidate.kernel);
      }
    }
  }
  const std::int64_t small = 16;
  const std::int64_t large = 2048;
  for (const int ops : {0, 1, 2, 3}) {
    for (const auto& [m, n] : {std::pair(large, large), {small, small}, {large, small}, {small, large}}) {
      Problem problem = Problem::packed(m, n, large);
      problem.a_op = ops % 2 == 1 ? Transpose::yes : Transpose::no;
      problem.b_op = ops / 2 == 1 ? Transpose::yes : Transpose::no;
      problem.lda = problem.a_rows();
      problem.ldb = problem.b_rows();
      all.insert(fallback(problem).kernel);
      if (m == large && device_.kind != DeviceKind::cpu) {
        problem.groups = 1;  // of many columns or few
        for (const bool aligned : {true, false}) {
          problem.a_aligned = aligned;
          all.insert(fallback(problem).kernel);
        }
      }
    }
  }
  return {all.begin(), all.end()};
}

ScheduleRequest unmeasured_request(const Problem& problem, const DeviceInfo& device) {
  const Tunables& registers = tuning_for(device).registers;
  for (const KernelSpec& spec : registry()) {
    const bool possible = spec.family && spec.family->runs_on(device.kind) &&
                          (!problem.is_grouped() || spec.family->takes_groups());
    if (possible) {
      if (const auto tunables = spec.family->unmeasured(problem, device, registers)) {
        return {&spec, *tunables};
      }
    }
  }
  if (problem.is_grouped()) {
    throw Error(Status::unsupported, "grouped products of k of at most " + std::to_string(longest_int_k) +
                                         "; it is " + std::to_string(problem.k));
  }
  throw std::logic_error("no kernel takes any problem on a device of this kind");
}

const Planner& planner_for(const DeviceInfo& device) {
  static std::mutex& mutex = *new std::mutex;
  static auto& planners = *new std::vector<std::unique_ptr<Planner>>;
  const std::lock_guard lock(mutex);
  const auto found = std::find_if(planners.begin(), planners.end(),
                                  [&](const auto& planner) { return planner->device() == device; });
  return found != planners.end() ? **found : *planners.emplace_back(std::make_unique<Planner>(device));
}

}  // namespace duogemm
