#include "runner/run.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <future>

#include "plan/lower.h"
#include "support/format.h"

namespace duogemm::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Calls `work`. A failure that the entry spares is said in its row.
void spare(const Entry& entry, Row& row, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    const Entry::Spares needed = error.status() == Status::unsupported     ? Entry::Spares::unsupported
                                 : error.status() == Status::out_of_memory ? Entry::Spares::lack_of_memory_too
                                                                           : Entry::Spares::all;
    row.is_broken = entry.spares_compiler && error.status() == Status::build_failed;
    if (entry.spares < needed && !row.is_broken) {
      throw;
    }
    row.missing = error.what();
  }
}

// Kernels that are to be explained are compiled anew.
DiskCache disk_for(const Conditions& conditions) {
  return DiskCache(conditions.device_options.explain ? std::filesystem::path() : cache_directory());
}

// By as many callers as there are: seconds from one result to the next, whoever's.
double run_at_once(Reference& multiplication, const GuardedOperands& sets, std::size_t callers, int repeats) {
  std::vector<std::future<Clock::time_point>> ends;
  std::barrier all_here(static_cast<std::ptrdiff_t>(callers) + 1);
  for (std::size_t caller = 0; caller < callers; ++caller) {
    ends.push_back(std::async(std::launch::async, [&, caller] {
      all_here.arrive_and_wait();
      const Clock::time_point start = Clock::now();
      const double seconds = multiplication.timed(repeats, [&](int) { return sets.operands(caller); });
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

class WholeExam final : public Exam {
 public:
  WholeExam(HostProblem host, Guards guards, bool from_offsets)
      : host_(std::move(host)), judge_(host_), guards_(guards), from_offsets_(from_offsets) {}

  PreparedPlan::Operands places(const GuardedOperands& operands) const override {
    return from_offsets_ ? operands.offset_operands() : operands.operands();
  }
  std::unique_ptr<GuardedOperands> operands(std::size_t count, Device& device, Queue& queue) const override {
    return std::make_unique<GuardedOperands>(host_, device, queue, guards_, count);
  }
  bool judge(const Entry& entry, const std::function<void()>& multiply, GuardedOperands& operands,
             Queue& queue, Row& row) override {
    operands.restore_c(queue);
    multiply();
    row.verdict = entry.library ? judge_.look_at_c(operands, queue) : judge_.look_at_all(operands, queue);
    return true;
  }

 private:
  const HostProblem host_;
  const Judge judge_;
  const Guards guards_;
  const bool from_offsets_;
};

class SampledExam final : public Exam {
 public:
  explicit SampledExam(const Problem& problem) : problem_(problem), judge_(problem) {}

  std::unique_ptr<GuardedOperands> operands(std::size_t count, Device& device, Queue& queue) const override {
    return std::make_unique<GuardedOperands>(problem_, count, device, queue);
  }
  bool judge(const Entry& entry, const std::function<void()>& multiply, GuardedOperands& operands,
             Queue& queue, Row& row) override {
    if (entry.is_own) {
      multiply();
      row.verdict = judge_.look_at_all(operands, queue);
      own_bits_ = row.verdict.fingerprint;
      // The second time must give the same bits, whatever it finds in C and in workspaces.
      if (problem_.beta != 0.0f) {
        operands.restore_c(queue);
      }
      multiply();
      row.repeatable = judge_.look_at_c(operands, queue).fingerprint == own_bits_;
      return row.verdict.ok() && row.repeatable;
    }
    operands.restore_c(queue);
    multiply();
    row.verdict = judge_.look_at_c(operands, queue);
    const bool is_whole = row.verdict.not_finite == 0 && row.verdict.overwritten == 0;
    if (entry.library->has_our_bits() && row.verdict.fingerprint != own_bits_) {
      row.missing = "its bits are not those of ours";
    } else if (!row.verdict.ok() && (entry.library->is_fp32_accurate() || !is_whole)) {
      row.missing = "its result is wrong: " + format("an error of %.3g bounds", row.verdict.worst_error) +
                    (row.verdict.first_fault.empty() ? "" : ", " + row.verdict.first_fault);
    }
    return row.missing.empty();
  }

 private:
  const Problem problem_;
  const Judge judge_;
  std::uint64_t own_bits_ = 0;
};

}  // namespace

Session::Session(const ChosenDevice& chosen, const Conditions& conditions)
    : runtime_(chosen.backend->open(chosen.index, conditions.device_options), disk_for(conditions)),
      queue_(device().create_queue()),
      programs_(device(), disk_for(conditions)),
      fuses_(info().promises_fma || fuses_multiply_add(device(), *queue_)),
      graph_(conditions.graph && info().backend == "cuda"),
      callers_(conditions.callers) {
  if (conditions.cold) {
    cold_.emplace(device(), *queue_);
  }
}

void Session::add(const LadderSetting& setting, Entry::MakePlan plan, bool is_split) {
  const std::string label = label_of(setting);
  Entry& entry = entries_.emplace_back();
  entry.title =
      (as_rung(*setting.spec) ? "rung " : "") + (label.empty() ? "" : label + " ") + setting.spec->name;
  entry.setting = setting;
  entry.plan = plan ? std::move(plan) : std::bind_front(plan_setting, setting);
  entry.is_split = is_split;
  entry.spares = Entry::Spares::unsupported;
  entry.spares_compiler = true;
}

void Session::add(std::unique_ptr<ReferenceLibrary> library, Entry entry) {
  entry.title = entry.title.empty() ? library->title() : entry.title;
  entry.name = library->name();
  entry.library = library.get();
  entries_.push_back(std::move(entry));
  libraries_.push_back(std::move(library));
}

std::vector<Peer> Session::peers() const {
  std::vector<Peer> peers;
  for (const Entry& entry : entries_) {
    if (entry.library && !entry.is_own) {
      peers.push_back({entry.title, entry.name});
    }
  }
  return peers;
}

std::unique_ptr<Exam> whole_exam(HostProblem host, Guards guards, bool from_offsets) {
  return std::make_unique<WholeExam>(std::move(host), guards, from_offsets);
}

std::unique_ptr<Exam> sampled_exam(const Problem& problem) { return std::make_unique<SampledExam>(problem); }

Trial::Trial(Sessions& sessions, const Problem& problem, bool each_step)
    : problem_(problem), each_step_(each_step) {
  std::ranges::for_each(sessions, [this](Session& session) { add(session); });
}

void Trial::add(Session& session) {
  sides_.push_back({&session, {}, std::vector<std::optional<Plan>>(session.entries_.size())});
  Side& side = sides_.back();
  for (const Entry& entry : session.entries_) {
    std::optional<Plan>& its_plan = side.plans[side.rows.size()];
    side.rows.push_back({.title = entry.title, .name = entry.name, .setting = entry.setting});
    Row& row = side.rows.back();
    if (!entry.library || entry.is_own) {
      spare(entry, row, [&] { plan(entry, session, row, its_plan); });
    }
  }
}

Problem Trial::problem_of(const Entry& entry) const {
  Problem problem = problem_;
  problem.precision = entry.precision.value_or(problem.precision);
  return problem;
}

void Trial::plan(const Entry& entry, const Session& session, Row& row, std::optional<Plan>& its_plan) const {
  const DeviceInfo& device = session.info();
  const Plan& plan =
      its_plan.emplace(entry.is_own ? plan_sgemm(problem_of(entry), device) : entry.plan(problem_, device));
  if (plan.steps.empty()) {
    return;
  }
  const Variant& kernel = *plan.steps.at(plan.multiply).kernel;
  const bool is_rung = !entry.is_own && as_rung(*entry.setting.spec);
  // A long sum of the library's own choice, at the level `everywhere`, is split where rungs' is not.
  const bool splits = entry.is_split || (entry.setting.planned && problem_.k > everywhere_split);
  row.is_chain = session.fuses_ && !splits && !(is_rung ? reorders(entry.setting) : kernel.reorders);
  row.support_steps = static_cast<std::size_t>(
      std::ranges::count_if(plan.steps, [&](const Step& step) { return step.kernel != &kernel; }));
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

// The executions within a sample take this many sets of operands in turn. Callers at once have one each.
std::size_t Trial::sets_of(const Session& session, const DeviceInfo& device) const {
  return session.cold_ ? ColdCaches::sets(operand_bytes(problem_, 1, device).total, device)
                       : session.callers_;
}

void Trial::add_workspaces(MemoryNeed& need) const {
  for (const Side& side : sides_) {
    for (const std::optional<Plan>& plan : side.plans) {
      if (plan) {
        need.add_workspaces(*plan);
      }
    }
  }
}

MemoryNeed Trial::need(const Side& side) const {
  Session& session = *side.session;
  const OperandBytes sets = operand_bytes(problem_, sets_of(session, session.info()), session.info());
  MemoryNeed need;
  bool on_device = false;
  bool on_host = false;
  for (std::size_t i = 0; i < side.rows.size(); ++i) {
    const ReferenceLibrary* library = session.entries_[i].library;
    const bool here = !library || &library->device() == &session.device();
    (here ? on_device : on_host) = true;
    if (here && side.plans[i]) {
      need.add_workspaces(*side.plans[i]);
    }
    if (library) {
      (here ? need.device : need.host) += library->workspace_bytes(problem_);
    }
  }
  if (on_device) {
    need.device += static_cast<double>(sets.total);
    need.largest = std::max(need.largest, static_cast<double>(sets.largest));
    need.add_buffer(session.cold_ ? static_cast<double>(ColdCaches::bytes(session.info())) : 0.0);
  }
  need.host += on_host ? static_cast<double>(sets.total) : 0.0;
  return need;
}

std::optional<std::string> Trial::lacking_memory(double host_bytes, double extra_bytes) const {
  MemoryNeed all;
  all.host = host_bytes;
  for (const Side& side : sides_) {
    all += need(side);
    all.add_buffer(extra_bytes);
  }
  return bench::lacking_memory(all, sides_.back().session->info(), available_host_memory());
}

std::size_t Trial::count() const {
  std::size_t all = 0;
  for (const Side& side : sides_) {
    all += static_cast<std::size_t>(
        std::ranges::count_if(side.rows, [](const Row& row) { return row.missing.empty(); }));
  }
  return all;
}

void Trial::judge(Exam& exam, const ShowWho& show, const std::atomic<bool>* stop) {
  for (Side& side : sides_) {
    for (std::size_t i = 0; i < side.rows.size(); ++i) {
      const Entry& entry = side.session->entries_[i];
      Row& row = side.rows[i];
      if (stop != nullptr && *stop) {
        return;
      }
      bool is_timed = false;
      if (row.missing.empty()) {
        show(side.session->info().backend + ": " + entry.title + ": judging");
        spare(entry, row, [&] { is_timed = judge(side, i, exam); });
      }
      if (entry.is_essential && !is_timed) {
        break;
      }
    }
  }
}

bool Trial::judge(Side& side, std::size_t i, Exam& exam) {
  const Entry& entry = side.session->entries_[i];
  Device& device = entry.library ? entry.library->device() : side.session->device();
  Queue& queue = entry.library ? entry.library->queue() : side.session->queue();
  std::unique_ptr<GuardedOperands>& sets = &device == &side.session->device() ? side.sets : side.host_sets;
  if (!sets) {
    sets = exam.operands(sets_of(*side.session, side.session->info()), device, queue);
  }
  std::vector<Timed> prepared = prepare(side, i, *sets, queue);
  Timed& whole = prepared.front();
  const bool is_timed = exam.judge(
      entry, [&] { whole.multiplication->execute(exam.places(*sets)); }, *sets, queue, side.rows[i]);
  if (is_timed) {
    if (entry.library) {
      run(whole, 1);  // who cannot be timed fails now, and not among the others
    }
    std::ranges::move(prepared, std::back_inserter(timed_));
  }
  return is_timed;
}

std::vector<Trial::Timed> Trial::prepare(Side& side, std::size_t i, const GuardedOperands& sets,
                                         Queue& queue) const {
  Session& session = *side.session;
  const Entry& entry = session.entries_[i];
  Row& row = side.rows[i];
  std::vector<Timed> prepared;
  if (entry.library) {
    prepared.push_back({&session, entry.title, entry.library->prepare(problem_of(entry), sets.operands(0)),
                        &queue, &sets, &row.samples});
    return prepared;
  }
  const auto plan =
      std::make_shared<const SelfContainedPlan>(*side.plans[i], session.device(), session.programs());
  const auto add = [&](const std::string& name, Samples& samples, FunctionReference::Enqueue enqueue) {
    prepared.push_back({&session, entry.title + name,
                        std::make_shared<FunctionReference>(queue, std::move(enqueue)), &queue, &sets,
                        &samples});
  };
  add("", row.samples, [plan, &queue](const auto& operands) { plan->enqueue(queue, operands); });
  if (row.support_steps > 0) {
    add(" (the multiplication alone)", row.multiply,
        [plan, &queue](const auto& operands) { plan->enqueue_multiply(queue, operands); });
  }
  row.first_steps.resize(each_step_ ? row.support_steps : 0);
  for (std::size_t steps = 1; steps <= row.first_steps.size(); ++steps) {
    add(" (the steps up to " + std::to_string(steps) + ")", row.first_steps[steps - 1],
        [plan, &queue, steps](const auto& operands) { plan->enqueue_first(steps, queue, operands); });
  }
  return prepared;
}

std::vector<Contender> Trial::contenders() {
  std::vector<Contender> contenders;
  for (Timed& timed : timed_) {
    contenders.push_back(
        {timed.session->info().backend + ": " + timed.name + ": timing", [&timed](int repeats) {
           try {
             return run(timed, repeats);
           } catch (const Error& error) {
             throw Error(error.status(), timed.name + ": " + error.what());
           }
         }});
  }
  return contenders;
}

void Trial::time(const MeasureOptions& options, GpuWatch& watch, const ShowWho& show) {
  const std::vector<Contender> all = contenders();
  std::vector<Samples> samples;
  watch.during([&] { samples = measure(all, options, show); });
  for (std::size_t i = 0; i < timed_.size(); ++i) {
    *timed_[i].samples = std::move(samples[i]);
  }
}

double Trial::run(Timed& timed, int repeats) {
  Session& session = *timed.session;
  if (session.callers_ > 1) {
    return run_at_once(*timed.multiplication, *timed.sets, session.callers_, repeats);
  }
  const auto turn = [&](int execution) { return timed.sets->operands(static_cast<std::size_t>(execution)); };
  const bool is_recorded = session.graph_ && timed.queue == session.queue_.get();
  if (is_recorded && timed.recorded_repeats != repeats) {
    timed.recording = timed.queue->record([&] {
      for (int i = 0; i < repeats; ++i) {
        timed.multiplication->enqueue(turn(i));
      }
    });
    timed.recorded_repeats = repeats;
    timed.recording->enqueue();  // the first time, a graph is also brought to the device
    timed.queue->finish();
  }
  if (session.cold_) {
    session.cold_->clear();
  }
  return is_recorded ? timed.queue->timed([&] { timed.recording->enqueue(); })
                     : timed.multiplication->timed(repeats, turn);
}

}  // namespace duogemm::bench
