#include "explain/explain.h"

#include <algorithm>

#include "device/device_selection.h"
#include "problem/precision.h"
#include "rungs/rungs.h"

namespace duogemm::bench {
namespace {

// Counts the products of BF16 or FP16 for each of FP32.
int products_of(const LadderSetting& setting) {
  if (const Rung* rung = as_rung(*setting.spec)) {
    return rung->bf16_products;
  }
  return setting.spec->family->multiplies_in(Precision::fp32) ? 0 : duogemm::products_of(setting.precision);
}

Explanation explain_one(const LadderSetting& setting, Device& device, Queue* queue, const Shape& shape,
                        PoclCache& pocl) {
  const Problem problem = Problem::packed(shape.m, shape.n, shape.k);
  const Plan plan = plan_setting(setting, problem, device.info());
  const Step& step = plan.steps[plan.multiply];
  Explanation result{.setting = setting, .device = device.info(), .problem = shape};
  if (setting.planned) {
    result.setting.spec = step.kernel->spec;
  }
  result.tunables = step.kernel->tunables;
  for (const Step& each : plan.steps) {
    result.steps.push_back(each.kernel->spec->name);
  }
  result.local = step.geometry.local;
  result.tile = tile_of(plan, shape);
  result.artefacts = artefacts_of(plan, problem, device, queue, pocl);
  result.local_bytes = result.artefacts.facts.local_bytes.value_or(step.kernel->local_bytes);
  const std::size_t work_items = result.local[0] * result.local[1] * result.local[2];
  const Multiples& tile = result.tile;
  result.loop = find_main_loop(result.artefacts.listing, static_cast<double>(tile.m * tile.n * tile.k) /
                                                             static_cast<double>(work_items));
  result.products = products_of(result.setting);
  const Multiprocessor* unit = multiprocessor_of(device.info().compute_capability);
  if (unit && result.artefacts.registers()) {
    result.occupancy = occupancy(*unit, work_items, *result.artefacts.registers(), result.local_bytes);
  }
  return result;
}

// With what the device was measured to do. Operands that a cache keeps from one execution to the next are not
// held up by the memory.
void add_roofline(Explanation& explanation, double peak, Bandwidth bandwidth, bool cold) {
  if (!explanation.loop) {
    return;
  }
  if (!cold && bytes_of(explanation.problem) <= static_cast<double>(explanation.device.cache_bytes)) {
    bandwidth.memory = 0.0;
  }
  explanation.roofline = roofline(explanation.loop->mix, explanation.problem, explanation.tile,
                                  {peak, bandwidth, multiprocessor_of(explanation.device.compute_capability),
                                   explanation.device.vector_floats},
                                  explanation.products);
}

void explain_absent(const ExplainRequest& request, PoclCache& pocl, ExplainReport& report) {
  const Backend* cuda = find_backend("cuda");
  if (cuda == nullptr) {
    throw Error(Status::unsupported,
                "--arch: this build has no CUDA, which alone compiles for devices that are not there");
  }
  const std::unique_ptr<Device> device = cuda->absent(*request.absent);
  for (const LadderSetting& setting : request.settings) {
    report.explanations.push_back(explain_one(setting, *device, nullptr, request.shape, pocl));
    add_roofline(report.explanations.back(), 0.0, {}, request.cold);
  }
}

// Tells everything but the measured speed.
std::vector<Explanation> explain_on(const ChosenDevice& chosen, const ExplainRequest& request,
                                    PoclCache& pocl, Progress& progress) {
  const std::unique_ptr<Device> device = chosen.backend->open(chosen.index, {.explain = true});
  const std::unique_ptr<Queue> queue = device->create_queue();
  std::vector<Explanation> explanations;
  for (const LadderSetting& setting : request.settings) {
    progress.show(device->info().backend + ": " + setting.spec->name + ": compiling");
    try {
      explanations.push_back(explain_one(setting, *device, queue.get(), request.shape, pocl));
    } catch (const Error& error) {
      throw Error(error.status(), setting.spec->name + ": " +
                                      (error.status() == Status::unsupported ? "needs " : "") + error.what());
    }
  }
  return explanations;
}

LadderRequest ladder_of(const ExplainRequest& request) {
  return {.settings = request.settings,
          .devices = request.devices,
          .device_options = {.explain = true},
          .shape = request.shape,
          .measure = request.measure,
          .cold = request.cold,
          .each_step = true};
}

// A step takes what the plan up to it takes longer than the plan up to the one before.
std::vector<StepTime> step_times(const std::vector<std::string>& names, const Row& row) {
  std::vector<StepTime> times;
  double before = 0.0;
  for (std::size_t i = 0; !row.first_steps.empty() && i < names.size(); ++i) {
    const Samples& samples = i < row.first_steps.size() ? row.first_steps[i] : row.samples;
    if (samples.seconds.empty()) {
      return {};  // the run was interrupted
    }
    times.push_back({names[i], std::max(samples.median() - before, 0.0)});
    before = samples.median();
  }
  return times;
}

}  // namespace

std::optional<std::size_t> Explanation::resident_groups() const {
  return artefacts.facts.resident ? artefacts.facts.resident
         : occupancy              ? std::optional(occupancy->groups)
                                  : std::nullopt;
}

double Explanation::speed() const {
  return measured.seconds.empty() ? 0.0 : problem.flops() / measured.median();
}

double Explanation::tensor_utilisation() const {
  for (const Bound& bound : roofline.bounds) {
    if (bound.name == "tensor cores") {
      return speed() / bound.flops;
    }
  }
  return 0.0;
}

double Explanation::promotion() const {
  const Multiprocessor* unit = multiprocessor_of(device.compute_capability);
  if (products == 0 || !loop || !unit || unit->tensor_multiply_adds == 0.0) {
    return 0.0;
  }
  return loop->mix[Kind::addition].instructions / unit->issued /
         (loop->mix.multiply_adds / unit->tensor_multiply_adds);
}

std::string Explanation::name() const {
  const std::string extra = to_text(setting.distinct);
  return setting.spec->name + (extra.empty() ? "" : " " + extra);
}

ExplainReport explain(const ExplainRequest& request, PoclCache& pocl, Progress& progress) {
  ExplainReport report;
  if (request.absent) {
    explain_absent(request, pocl, report);
    return report;
  }
  const LadderRequest ladder = ladder_of(request);
  require_ladder_memory(ladder, request.shape);
  std::vector<std::vector<Explanation>> by_device;
  for (const ChosenDevice& chosen : request.devices) {
    by_device.push_back(explain_on(chosen, request, pocl, progress));
  }
  report.runs = run_ladder(ladder, progress);
  for (std::size_t s = 0; s < request.settings.size(); ++s) {
    for (std::size_t d = 0; d < by_device.size(); ++d) {
      Explanation& explanation = by_device[d][s];
      const Row& row = report.runs[d].rows[s];
      explanation.measured = row.multiply.seconds.empty() ? row.samples : row.multiply;
      explanation.step_times = step_times(explanation.steps, row);
      add_roofline(explanation, report.runs[d].peak, report.runs[d].bandwidth, request.cold);
      report.explanations.push_back(std::move(explanation));
    }
  }
  return report;
}

}  // namespace duogemm::bench
