#include "ladder_run.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "cold_caches.h"
#include "operand_sets.h"
#include "peak.h"
#include "timing_warnings.h"
#include "traffic.h"

namespace duogemm::bench {
namespace {

constexpr std::uint32_t seed = 20141;
constexpr double gigabyte = 1e9;

Problem problem_of(const Shape& shape) { return Problem::packed(shape.m, shape.n, shape.k); }

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The ladder on one device, from planning to report.
class Session {
 public:
  Session(const LadderRequest& request, const ChosenDevice& chosen)
      : device_(chosen.backend->open(chosen.index, request.device_options)),
        queue_(device_->create_queue()),
        programs_(*device_,
                  DiskCache(request.device_options.explain ? std::filesystem::path() : cache_directory())) {
    if (request.cold) {
      cold_.emplace(*device_, *queue_);
    }
    report_.device = device_->info();
    for (const LadderSetting& setting : request.settings) {
      report_.rows.emplace_back().setting = setting;
    }
  }

  Device& device() { return *device_; }

  // Compiles and allocates; a setting that the device cannot run says so in its row.
  void prepare(const HostProblem& host, Progress& progress) {
    report_.shape = {host.problem.m, host.problem.n, host.problem.k};
    plan(host.problem);
    require_memory(host);
    guarded_.emplace(host, *device_, *queue_);
    sets_.emplace(host.problem, set_count(host.problem), *device_, *queue_);
    prepared_.resize(report_.rows.size());
    for (std::size_t i = 0; i < report_.rows.size(); ++i) {
      if (plans_[i]) {
        progress.show(label(i) + ": compiling");
        supported(
            i, [&] { prepared_[i] = std::make_unique<SelfContainedPlan>(*plans_[i], *device_, programs_); });
      }
    }
    prepare_library(host);
  }

  void check(const Oracle& oracle, Progress& progress) {
    for (std::size_t i = 0; i < report_.rows.size(); ++i) {
      if (prepared_[i]) {
        progress.show(label(i) + ": checking");
        guarded_->reset_c(*queue_);
        prepared_[i]->enqueue(*queue_, guarded_->operands());
        report_.rows[i].check = guarded_->compare(oracle, *queue_);
      }
    }
    if (reference_) {
      Queue& queue = library_->queue();
      GuardedOperands& operands = operands_of_library();
      operands.reset_c(queue);
      reference_->execute(operands.operands());
      report_.reference.name = library_->name();
      report_.reference.worst_error = operands.compare(oracle, queue).worst_error;
    }
  }

  // Adds this device's contenders; take_samples expects their samples in the same order.
  void add_contenders(std::vector<Contender>& contenders) {
    for (std::size_t i = 0; i < report_.rows.size(); ++i) {
      if (!prepared_[i]) {
        continue;
      }
      const SelfContainedPlan& plan = *prepared_[i];
      contenders.push_back({label(i) + ": timing", timed([&](const PreparedPlan::Operands& operands) {
                              plan.enqueue(*queue_, operands);
                            })});
      if (report_.rows[i].support_steps > 0) {
        contenders.push_back({label(i) + ": timing the multiplication alone",
                              timed([&](const PreparedPlan::Operands& operands) {
                                plan.enqueue_multiply(*queue_, operands);
                              })});
      }
    }
    if (reference_) {
      contenders.push_back({library_->name() + ": timing", [this](int repeats) {
                              clear_caches();
                              const OperandSets& sets = sets_for_library_ ? *sets_for_library_ : *sets_;
                              return reference_->timed(repeats, [&](int execution) {
                                return sets.operands(static_cast<std::size_t>(execution));
                              });
                            }});
    }
  }

  void take_samples(std::vector<Samples>::iterator& next) {
    for (std::size_t i = 0; i < report_.rows.size(); ++i) {
      if (prepared_[i]) {
        report_.rows[i].samples = std::move(*next++);
        if (report_.rows[i].support_steps > 0) {
          report_.rows[i].multiply = std::move(*next++);
        }
      }
    }
    if (reference_) {
      report_.reference.samples = std::move(*next++);
    }
  }

  void measure_abilities() {
    report_.peak = measure_peak(*device_, *queue_, programs_);
    report_.bandwidth = measure_bandwidth(*device_, *queue_, programs_);
  }

  void note_state_before() { report_.gpu_before = query_gpu(device_->info().pci_bus); }

  void note_states(const std::vector<GpuMoment>& moments) {
    report_.gpu_after = query_gpu(device_->info().pci_bus);
    report_.gpu_during = moments;
  }

  LadderReport take_report() { return std::move(report_); }

 private:
  std::string label(std::size_t i) const {
    const KernelSpec& spec = *report_.rows[i].setting.spec;
    return device_->info().backend + (spec.rung.empty() ? ": " : ": rung " + spec.rung + " ") + spec.name;
  }

  // Calls `work`; when it says that the device cannot run setting i, the row keeps the reason.
  void supported(std::size_t i, const std::function<void()>& work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.status() != Status::unsupported) {
        throw;
      }
      report_.rows[i].unsupported = error.what();
    }
  }

  // The library works on the ladder's operands, or on its own where it wants them in the host's memory.
  void prepare_library(const HostProblem& host) {
    library_ = main_library(*device_, *queue_);
    if (!library_) {
      return;
    }
    if (&library_->device() != device_.get()) {
      guarded_for_library_.emplace(host, library_->device(), library_->queue());
      sets_for_library_.emplace(host.problem, set_count(host.problem), library_->device(), library_->queue());
    }
    reference_ = library_->prepare(host.problem, operands_of_library().operands());
  }

  GuardedOperands& operands_of_library() { return guarded_for_library_ ? *guarded_for_library_ : *guarded_; }

  void plan(const Problem& problem) {
    plans_.assign(report_.rows.size(), std::nullopt);
    for (std::size_t i = 0; i < report_.rows.size(); ++i) {
      const LadderSetting& setting = report_.rows[i].setting;
      supported(i, [&] {
        plans_[i] = plan_setting(setting, problem, device_->info());
        report_.rows[i].support_steps = plans_[i]->steps.size() - 1;
        report_.rows[i].flops_per_byte = flops_per_byte(tile_of(*plans_[i], report_.shape));
      });
    }
  }

  void require_memory(const HostProblem& host) const {
    const OperandBytes sets = operand_bytes(host.problem, set_count(host.problem), device_->info());
    std::size_t total = sizeof(float) * (host.a.size() + host.b.size() + host.c.size()) + sets.total +
                        (cold_ ? cold_->bytes() : 0);
    std::size_t largest = sets.largest;
    for (const std::optional<Plan>& plan : plans_) {
      for (std::size_t bytes : plan ? plan->workspace_bytes : std::vector<std::size_t>{}) {
        total += bytes;
        largest = std::max(largest, bytes);
      }
    }
    const DeviceInfo& info = device_->info();
    if (total > info.memory_bytes || largest > info.max_allocation_bytes) {
      throw Error(Status::invalid_argument,
                  "m=" + std::to_string(host.problem.m) + " n=" + std::to_string(host.problem.n) +
                      " k=" + std::to_string(host.problem.k) + " needs " +
                      std::to_string(static_cast<double>(total) / gigabyte) + " GB of device memory; " +
                      info.name + " has " +
                      std::to_string(static_cast<double>(info.memory_bytes) / gigabyte) +
                      " GB: choose smaller sizes or fewer kernels");
    }
  }

  std::size_t set_count(const Problem& problem) const {
    return cold_ ? cold_->sets(operand_bytes(problem, 1, device_->info()).total) : 1;
  }

  void clear_caches() {
    if (cold_) {
      cold_->clear();
    }
  }

  std::function<double(int)> timed(std::function<void(const PreparedPlan::Operands&)> enqueue) {
    return [this, enqueue = std::move(enqueue)](int repeats) {
      clear_caches();
      return queue_->timed([&] {
        for (int i = 0; i < repeats; ++i) {
          enqueue(sets_->operands(static_cast<std::size_t>(i)));
        }
      });
    };
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  ProgramCache programs_;
  std::vector<std::optional<Plan>> plans_;
  std::optional<ColdCaches> cold_;
  std::optional<GuardedOperands> guarded_;                    // to be checked
  std::optional<OperandSets> sets_;                           // to be timed
  std::vector<std::unique_ptr<SelfContainedPlan>> prepared_;  // null where unsupported
  std::unique_ptr<ReferenceLibrary> library_;
  std::optional<GuardedOperands> guarded_for_library_;
  std::optional<OperandSets> sets_for_library_;
  std::unique_ptr<Reference> reference_;
  LadderReport report_;
};

// What the whole ladder takes at a size, about, judged by one run of everything.
double estimate_seconds(const LadderRequest& request, std::int64_t size, Progress& progress) {
  constexpr double runs = 9.0;  // check, warm-up and samples
  const HostProblem host = random_problem(problem_of({size, size, size}), Distribution::signed_unit, seed);
  double seconds = seconds_of([&] { Oracle(host.problem, host.a, host.b, host.c); });
  for (const ChosenDevice& chosen : request.devices) {
    Session session(request, chosen);
    session.prepare(host, progress);
    std::vector<Contender> contenders;
    session.add_contenders(contenders);
    for (const Contender& contender : contenders) {
      progress.show(contender.name + " (to choose a size)");
      contender.run(1);
      seconds += runs * contender.run(1);
    }
  }
  return seconds;
}

// The largest power of two up to the tutorial's 4096 for which the whole ladder takes well under a minute:
// time grows with the cube of the size, once the device is busy.
Shape choose_shape(const LadderRequest& request, Progress& progress) {
  constexpr double budget_seconds = 40.0;
  std::int64_t size = 256;
  while (size < 4096 && 8.0 * estimate_seconds(request, size, progress) < budget_seconds) {
    size *= 2;
  }
  return {size, size, size};
}

// Rejects what cannot be run on any device before anything large is allocated on the host.
void require_plannable(const LadderRequest& request, const Problem& problem) {
  for (const ChosenDevice& chosen : request.devices) {
    const DeviceInfo info = chosen.info();
    for (const LadderSetting& setting : request.settings) {
      try {
        plan_setting(setting, problem, info);
      } catch (const Error& error) {
        if (error.status() != Status::unsupported) {
          throw;
        }
      }
    }
    const double bytes = sizeof(float) * (static_cast<double>(problem.a_elements()) +
                                          static_cast<double>(problem.b_elements()) +
                                          static_cast<double>(problem.c_elements()));
    if (bytes > static_cast<double>(info.memory_bytes)) {
      throw Error(Status::invalid_argument,
                  "m=" + std::to_string(problem.m) + " n=" + std::to_string(problem.n) +
                      " k=" + std::to_string(problem.k) + " needs " + std::to_string(bytes / gigabyte) +
                      " GB of device memory; " + info.name + " has " +
                      std::to_string(static_cast<double>(info.memory_bytes) / gigabyte) + " GB");
    }
  }
}

}  // namespace

bool LadderReport::ok() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const LadderRow& row) { return !row.unsupported.empty() || row.check.ok(); });
}

std::vector<std::string> LadderReport::warnings(double wanted_noise) const {
  std::vector<NamedSamples> samples;
  for (const LadderRow& row : rows) {
    const std::string extra = to_text(row.setting.distinct);
    samples.push_back({row.setting.spec->name + (extra.empty() ? "" : " " + extra), &row.samples});
  }
  samples.push_back({reference.name, &reference.samples});
  return timing_warnings(gpu_during, samples, wanted_noise);
}

std::vector<LadderReport> run_ladder(const LadderRequest& request, Progress& progress) {
  const Shape shape = request.shape ? *request.shape : choose_shape(request, progress);
  require_plannable(request, problem_of(shape));
  progress.show("random matrices and their product in double precision");
  const HostProblem host = random_problem(problem_of(shape), Distribution::signed_unit, seed);
  const Oracle oracle(host.problem, host.a, host.b, host.c);

  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Contender> contenders;
  for (const ChosenDevice& chosen : request.devices) {
    sessions.push_back(std::make_unique<Session>(request, chosen));
    sessions.back()->prepare(host, progress);
    sessions.back()->check(oracle, progress);
    if (request.abilities) {
      sessions.back()->measure_abilities();
    }
    sessions.back()->note_state_before();
    sessions.back()->add_contenders(contenders);
  }
  // Both runtimes of one GPU: what is seen of it is the same.
  GpuWatch watch(sessions.front()->device().info().pci_bus);
  std::vector<Samples> samples;
  watch.during([&] {
    samples = measure(contenders, request.measure, [&](const std::string& name) { progress.show(name); });
  });
  std::vector<LadderReport> reports;
  auto next = samples.begin();
  for (const auto& session : sessions) {
    session->note_states(watch.moments());
    session->take_samples(next);
    reports.push_back(session->take_report());
  }
  progress.clear();
  return reports;
}

}  // namespace duogemm::bench
