#include "ladder/ladder_session.h"

#include "ladder/traffic.h"
#include "support/interrupt.h"
#include "timing/device_speed.h"

namespace duogemm::bench {
LadderSession::LadderSession(const LadderRequest& request, const ChosenDevice& chosen)
    : stop_(request.measure.stop),
      each_step_(request.each_step),
      device_(chosen.backend->open(chosen.index, request.device_options)),
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

void LadderSession::prepare(const HostProblem& host, Progress& progress) {
  report_.shape = {host.problem.m, host.problem.n, host.problem.k};
  plan(host.problem);
  operands_.emplace(host, *device_, *queue_, Guards::bands, set_count(host.problem));
  prepared_.resize(report_.rows.size());
  for (std::size_t i = 0; i < report_.rows.size(); ++i) {
    if (plans_[i] && !stopped()) {
      progress.show(label(i) + ": compiling");
      supported(i,
                [&] { prepared_[i] = std::make_unique<SelfContainedPlan>(*plans_[i], *device_, programs_); });
    }
  }
  prepare_library(host);
}

void LadderSession::check(const Judge& judge, Progress& progress) {
  for (std::size_t i = 0; i < report_.rows.size(); ++i) {
    if (prepared_[i] && !stopped()) {
      progress.show(label(i) + ": checking");
      operands_->restore_c(*queue_);
      prepared_[i]->enqueue(*queue_, operands_->operands());
      report_.rows[i].check = judge.look_at_all(*operands_, *queue_);
    }
  }
  if (reference_) {
    Queue& queue = library_->queue();
    GuardedOperands& operands = operands_of_library();
    operands.restore_c(queue);
    reference_->execute(operands.operands());
    report_.reference.name = library_->name();
    report_.reference.worst_error = judge.look_at_c(operands, queue).worst_error;
  }
}

void LadderSession::add_contenders(std::vector<Contender>& contenders) {
  for (std::size_t i = 0; i < report_.rows.size(); ++i) {
    if (!prepared_[i]) {
      continue;
    }
    const SelfContainedPlan& plan = *prepared_[i];
    contenders.push_back({label(i) + ": timing", timed([&](const PreparedPlan::Operands& operands) {
                            plan.enqueue(*queue_, operands);
                          })});
    if (report_.rows[i].support_steps > 0) {
      contenders.push_back(
          {label(i) + ": timing the multiplication alone",
           timed([&](const PreparedPlan::Operands& operands) { plan.enqueue_multiply(*queue_, operands); })});
    }
    for (std::size_t count = 1; each_step_ && count <= report_.rows[i].support_steps; ++count) {
      contenders.push_back({label(i) + ": timing the steps up to " + std::to_string(count),
                            timed([&plan, this, count](const PreparedPlan::Operands& operands) {
                              plan.enqueue_first(count, *queue_, operands);
                            })});
    }
  }
  if (reference_) {
    contenders.push_back({library_->name() + ": timing", [this](int repeats) {
                            clear_caches();
                            return reference_->timed(repeats, [&](int execution) {
                              return operands_of_library().operands(static_cast<std::size_t>(execution));
                            });
                          }});
  }
}

void LadderSession::take_samples(std::vector<Samples>::iterator& next) {
  for (std::size_t i = 0; i < report_.rows.size(); ++i) {
    if (prepared_[i]) {
      report_.rows[i].samples = std::move(*next++);
      if (report_.rows[i].support_steps > 0) {
        report_.rows[i].multiply = std::move(*next++);
      }
      for (std::size_t count = 1; each_step_ && count <= report_.rows[i].support_steps; ++count) {
        report_.rows[i].first_steps.push_back(std::move(*next++));
      }
    }
  }
  if (reference_) {
    report_.reference.samples = std::move(*next++);
  }
}

void LadderSession::measure_abilities() {
  report_.peak = measure_peak(*device_, *queue_, programs_, interrupted());
  report_.bandwidth = measure_bandwidth(*device_, *queue_, programs_, interrupted());
}

void LadderSession::note_states(const std::vector<GpuMoment>& moments) {
  report_.gpu_after = query_gpu(device_->info().pci_bus);
  report_.gpu_during = moments;
}

std::string LadderSession::label(std::size_t i) const {
  const LadderSetting& setting = report_.rows[i].setting;
  const std::string rung = label_of(setting);
  return device_->info().backend + (as_rung(*setting.spec) ? ": rung " : ": ") +
         (rung.empty() ? "" : rung + " ") + setting.spec->name;
}

void LadderSession::supported(std::size_t i, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) {
      throw;
    }
    report_.rows[i].unsupported = error.what();
  }
}

void LadderSession::prepare_library(const HostProblem& host) {
  library_ = main_library(*device_, *queue_);
  if (!library_) {
    return;
  }
  if (&library_->device() != device_.get()) {
    operands_for_library_.emplace(host, library_->device(), library_->queue(), Guards::bands,
                                  set_count(host.problem));
  }
  reference_ = library_->prepare(host.problem, operands_of_library().operands());
}

void LadderSession::plan(const Problem& problem) {
  plans_.assign(report_.rows.size(), std::nullopt);
  for (std::size_t i = 0; i < report_.rows.size(); ++i) {
    LadderSetting& setting = report_.rows[i].setting;
    supported(i, [&] {
      const Rung* rung = as_rung(*setting.spec);
      if (rung && rung->for_cpus && report_.device.kind == DeviceKind::gpu) {
        throw Error(Status::unsupported, "a CPU: on a GPU, one work-item would take minutes");
      }
      plans_[i] = plan_setting(setting, problem, device_->info());
      if (setting.planned) {
        const Variant& kernel = *plans_[i]->steps.at(plans_[i]->multiply).kernel;
        setting.spec = kernel.spec;
        setting.tunables = kernel.tunables;
      }
      report_.rows[i].support_steps = plans_[i]->steps.size() - 1;
      report_.rows[i].flops_per_byte = flops_per_byte(tile_of(*plans_[i], report_.shape));
    });
  }
}

std::size_t LadderSession::set_count(const Problem& problem) const {
  return cold_ ? ColdCaches::sets(operand_bytes(problem, 1, device_->info()).total, device_->info()) : 1;
}

void LadderSession::clear_caches() {
  if (cold_) {
    cold_->clear();
  }
}

std::function<double(int)> LadderSession::timed(std::function<void(const PreparedPlan::Operands&)> enqueue) {
  return [this, enqueue = std::move(enqueue)](int repeats) {
    clear_caches();
    return queue_->timed([&] {
      for (int i = 0; i < repeats; ++i) {
        enqueue(operands_->operands(static_cast<std::size_t>(i)));
      }
    });
  };
}

}  // namespace duogemm::bench
