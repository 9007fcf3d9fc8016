#include "runner/trial.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <future>

#include "plan/lower.h"

namespace duogemm::bench {
namespace {

using Clock = std::chrono::steady_clock;

// A kernel's plan, or a part of it, as a library's multiplication is.
class PartOfPlan final : public Reference {
 public:
  using Enqueue = std::function<void(const SelfContainedPlan&, Queue&, const PreparedPlan::Operands&)>;

  PartOfPlan(std::shared_ptr<const SelfContainedPlan> plan, Queue& queue, Enqueue enqueue)
      : Reference(queue), plan_(std::move(plan)), enqueue_(std::move(enqueue)) {}
  void enqueue(const PreparedPlan::Operands& operands) override { enqueue_(*plan_, queue(), operands); }

 private:
  std::shared_ptr<const SelfContainedPlan> plan_;
  Enqueue enqueue_;
};

bool is_spared(const Entry& entry, Status status) {
  switch (entry.spares) {
    case Entry::Spares::none:
      return false;
    case Entry::Spares::unsupported:
      return status == Status::unsupported;
    case Entry::Spares::lack_of_memory_too:
      return status == Status::unsupported || status == Status::out_of_memory;
    case Entry::Spares::all:
      return true;
  }
  return false;
}

}  // namespace

Trial::Trial(Session& session, const Problem& problem, bool each_step)
    : session_(session),
      problem_(problem),
      each_step_(each_step),
      count_(session.sets(operand_bytes(problem, 1, session.info()).total)),
      rows_(session.entries().size()),
      plans_(session.entries().size()) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Entry& entry = session_.entries()[i];
    rows_[i].title = entry.title;
    rows_[i].name = entry.name;
    rows_[i].setting = entry.setting;
    if (!entry.library || entry.is_own) {
      spare(i, [&] { plan(i); });
    }
  }
}

void Trial::spare(std::size_t i, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    if (!is_spared(session_.entries()[i], error.status())) {
      throw;
    }
    rows_[i].missing = error.what();
  }
}

Problem Trial::problem_of(const Entry& entry) const {
  Problem problem = problem_;
  problem.precision = entry.precision.value_or(problem.precision);
  return problem;
}

void Trial::plan(std::size_t i) {
  const Entry& entry = session_.entries()[i];
  Row& row = rows_[i];
  const Rung* rung = entry.is_own ? nullptr : as_rung(*entry.setting.spec);
  const Plan& plan = plans_[i].emplace(entry.is_own ? plan_sgemm(problem_of(entry), session_.info())
                                                    : entry.plan(problem_, session_.info()));
  if (plan.steps.empty()) {
    return;
  }
  const Variant& kernel = *plan.steps.at(plan.multiply).kernel;
  row.is_chain = !entry.is_split && !(rung ? reorders(entry.setting) : kernel.reorders);
  row.support_steps = plan.steps.size() - 1;
  std::ranges::transform(plan.steps, std::back_inserter(row.launched),
                         [](const Step& step) { return step.kernel->spec->name; });
  if (entry.is_own) {
    row.plan = describe(plan);
  } else {
    row.flops_per_byte = flops_per_byte(tile_of(plan, {problem_.m, problem_.n, problem_.k}));
  }
  if (entry.is_own || entry.setting.planned) {
    row.setting.spec = kernel.spec;
    row.setting.tunables = kernel.tunables;
  }
}

void Trial::add_workspaces(MemoryNeed& need) const {
  for (const std::optional<Plan>& plan : plans_) {
    if (plan) {
      need.add_workspaces(*plan);
    }
  }
}

MemoryNeed Trial::need() const {
  const OperandBytes sets = operand_bytes(problem_, count_, session_.info());
  MemoryNeed need;
  bool on_device = false;
  bool on_host = false;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const ReferenceLibrary* library = session_.entries()[i].library;
    const bool here = !library || &session_.entries()[i].library->device() == &session_.device();
    (here ? on_device : on_host) = true;
    if (here && plans_[i]) {
      need.add_workspaces(*plans_[i]);
    }
    if (library) {
      (here ? need.device : need.host) += library->workspace_bytes(problem_);
    }
  }
  if (on_device) {
    need.device += static_cast<double>(sets.total);
    need.largest = std::max(need.largest, static_cast<double>(sets.largest));
    need.add_buffer(static_cast<double>(session_.own_bytes()));
  }
  need.host += on_host ? static_cast<double>(sets.total) : 0.0;
  return need;
}

void Trial::judge(Exam& exam, const ShowWho& show, const std::atomic<bool>* stop) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Entry& entry = session_.entries()[i];
    if (stop != nullptr && *stop) {
      return;
    }
    bool is_timed = false;
    spare(i, [&] {
      if (!rows_[i].missing.empty()) {
        return;
      }
      show(entry.title);
      GuardedOperands& sets = sets_for(entry, exam);
      std::vector<Timed> prepared = prepare(i, sets);
      is_timed = exam.judge(
          entry, [&] { prepared.front().multiplication->execute(exam.places(sets)); }, sets,
          *prepared.front().queue, rows_[i]);
      if (is_timed) {
        if (entry.library) {
          run(prepared.front(), 1);  // who cannot be timed fails now, and not among the others
        }
        std::ranges::move(prepared, std::back_inserter(timed_));
      }
    });
    if (entry.is_essential && !(is_timed && rows_[i].missing.empty())) {
      return;
    }
  }
}

std::vector<Trial::Timed> Trial::prepare(std::size_t i, const GuardedOperands& sets) {
  const Entry& entry = session_.entries()[i];
  Row& row = rows_[i];
  std::vector<Timed> prepared;
  if (entry.library) {
    prepared.push_back({entry.title, entry.library->prepare(problem_of(entry), sets.operands(0)),
                        &entry.library->queue(), &sets, &row.samples});
    return prepared;
  }
  const auto plan =
      std::make_shared<const SelfContainedPlan>(*plans_[i], session_.device(), session_.programs());
  const auto add = [&](const std::string& name, Samples& samples, PartOfPlan::Enqueue enqueue) {
    prepared.push_back({entry.title + name,
                        std::make_shared<PartOfPlan>(plan, session_.queue(), std::move(enqueue)),
                        &session_.queue(), &sets, &samples});
  };
  add("", row.samples,
      [](const auto& whole, Queue& queue, const auto& operands) { whole.enqueue(queue, operands); });
  if (row.support_steps > 0) {
    add(" (the multiplication alone)", row.multiply,
        [](const auto& whole, Queue& queue, const auto& operands) {
          whole.enqueue_multiply(queue, operands);
        });
  }
  row.first_steps.resize(each_step_ ? row.support_steps : 0);
  for (std::size_t steps = 1; steps <= row.first_steps.size(); ++steps) {
    add(" (the steps up to " + std::to_string(steps) + ")", row.first_steps[steps - 1],
        [steps](const auto& whole, Queue& queue, const auto& operands) {
          whole.enqueue_first(steps, queue, operands);
        });
  }
  return prepared;
}

GuardedOperands& Trial::sets_for(const Entry& entry, Exam& exam) {
  Device& device = entry.library ? entry.library->device() : session_.device();
  Queue& queue = entry.library ? entry.library->queue() : session_.queue();
  std::unique_ptr<GuardedOperands>& sets = &device == &session_.device() ? sets_ : host_sets_;
  if (!sets) {
    sets = exam.operands(count_, device, queue);
  }
  return *sets;
}

void Trial::add_contenders(std::vector<Contender>& contenders) {
  for (Timed& timed : timed_) {
    contenders.push_back({session_.info().backend + ": " + timed.name + ": timing", [&](int repeats) {
                            try {
                              return run(timed, repeats);
                            } catch (const Error& error) {
                              throw Error(error.status(), timed.name + ": " + error.what());
                            }
                          }});
  }
}

void Trial::take_samples(std::vector<Samples>::iterator& next) {
  for (const Timed& timed : timed_) {
    *timed.samples = std::move(*next++);
  }
}

double Trial::run_at_once(Timed& timed, int repeats) {
  const std::size_t callers = session_.callers();
  std::vector<std::future<Clock::time_point>> ends;
  std::barrier all_here(static_cast<std::ptrdiff_t>(callers) + 1);
  for (std::size_t caller = 0; caller < callers; ++caller) {
    ends.push_back(std::async(std::launch::async, [&, caller] {
      all_here.arrive_and_wait();
      const Clock::time_point start = Clock::now();
      const double seconds =
          timed.multiplication->timed(repeats, [&](int) { return timed.sets->operands(caller); });
      return start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }));
  }
  const Clock::time_point start = Clock::now();
  all_here.arrive_and_wait();
  for (const auto& each : ends) {
    each.wait();  // all are at an end before one may throw
  }
  Clock::time_point last = start;
  for (auto& each : ends) {
    last = std::max(last, each.get());
  }
  return std::chrono::duration<double>(last - start).count() / static_cast<double>(callers);
}

double Trial::run(Timed& timed, int repeats) {
  if (session_.callers() > 1) {
    return run_at_once(timed, repeats);
  }
  const auto turn = [&](int execution) { return timed.sets->operands(static_cast<std::size_t>(execution)); };
  if (!session_.records(*timed.queue)) {
    session_.clear_caches();
    return timed.multiplication->timed(repeats, turn);
  }
  if (timed.recorded_repeats != repeats) {
    timed.recording = timed.queue->record([&] {
      for (int i = 0; i < repeats; ++i) {
        timed.multiplication->enqueue(turn(i));
      }
    });
    timed.recorded_repeats = repeats;
    timed.recording->enqueue();  // the first time, a graph is also brought to the device
    timed.queue->finish();
  }
  session_.clear_caches();
  return timed.queue->timed([&] { timed.recording->enqueue(); });
}

Trials plan_trials(const Sessions& sessions, const Problem& problem, bool each_step) {
  Trials trials;
  for (const auto& session : sessions) {
    trials.push_back(std::make_unique<Trial>(*session, problem, each_step));
  }
  return trials;
}

std::optional<std::string> lacking_memory(const Sessions& sessions, const Trials& trials, double host_bytes,
                                          double extra_bytes) {
  MemoryNeed need;
  need.host = host_bytes;
  for (const auto& trial : trials) {
    need += trial->need();
    need.add_buffer(extra_bytes);
  }
  return lacking_memory(need, sessions.back()->info(), available_host_memory());
}

void judge(const Sessions& sessions, const Trials& trials, Exam& exam, const MeasureOptions& options,
           const ShowWho& show) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::string where = sessions[i]->info().backend + ": ";
    trials[i]->judge(
        exam, [&](const std::string& who) { show(where + who + ": judging"); }, options.stop);
  }
}

void time_in_turns(const Trials& trials, const MeasureOptions& options, GpuWatch& watch,
                   const ShowWho& show) {
  std::vector<Contender> contenders;
  for (const auto& trial : trials) {
    trial->add_contenders(contenders);
  }
  std::vector<Samples> samples;
  watch.during([&] { samples = measure(contenders, options, show); });
  auto next = samples.begin();
  for (const auto& trial : trials) {
    trial->take_samples(next);
  }
}

}  // namespace duogemm::bench
