#include "compare/match.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <future>

#include "machine/host_memory.h"
#include "machine/memory_need.h"
#include "plan/lower.h"
#include "support/table.h"

namespace duogemm::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

std::string why_wrong(const Verdict& verdict) {
  return "its result is wrong: " + format("an error of %.3g bounds", verdict.worst_error) +
         (verdict.first_fault.empty() ? "" : ", " + verdict.first_fault);
}

}  // namespace

Match::Match(Arena& arena, const std::string& list, const NamedShape& shape, const Show& show)
    : arena_(arena),
      problem_(shape.problem),
      count_(arena.sets(operand_bytes(problem_, 1, arena.info()).total)) {
  row_.list = list;
  row_.shape = shape;
  row_.others.resize(arena.libraries().size());
  try {
    show("duogemm");
    prepare_ours();
  } catch (const Error& error) {
    if (error.status() != Status::unsupported && error.status() != Status::out_of_memory) {
      throw Error(error.status(), label() + ": " + error.what());
    }
    row_.skipped = error.what();
    entrants_.clear();
  }
  for (std::size_t i = 0; i < row_.others.size() && !entrants_.empty(); ++i) {
    show(arena.libraries()[i]->title());
    prepare(*arena.libraries()[i], i);
  }
}

void Match::prepare_ours() {
  const Plan plan = plan_sgemm(problem_, arena_.info());
  row_.plan = describe(plan);
  require_memory(plan);
  ReferenceLibrary& library = arena_.own();
  GuardedOperands& sets = sets_for(library);
  auto ours = library.prepare(problem_, sets.operands(0));
  judge_.emplace(problem_);
  judge_ours(*ours, sets, library.queue());
  if (row_.ok()) {
    enter({library.title(), std::move(ours), &library.queue(), &sets, nobody});
  }
}

// Twice: the second time must give the same bits, whatever it finds in C and in workspaces.
void Match::judge_ours(Reference& ours, GuardedOperands& sets, Queue& queue) {
  ours.execute(sets.operands(0));
  row_.verdict = judge_->look_at_all(sets, queue);
  if (problem_.beta != 0.0f) {
    sets.restore_c(queue);
  }
  ours.execute(sets.operands(0));
  row_.repeatable = judge_->look_at_c(sets, queue).fingerprint == row_.verdict.fingerprint;
}

// All devices of a comparison are one, and have operands of their own there.
void Match::require_memory(const Plan& plan) const {
  const OperandBytes operands = operand_bytes(problem_, count_, arena_.info());
  MemoryNeed need;
  need.host = Judge::host_bytes(problem_);
  bool on_host = &arena_.own().device() != &arena_.device();
  if (!on_host) {
    need.device = static_cast<double>(operands.total);
    need.largest = static_cast<double>(operands.largest);
    need.add_workspaces(plan);
    need.add_buffer(static_cast<double>(arena_.own_bytes()));
  }
  for (const auto& library : arena_.libraries()) {
    const bool on_device = &library->device() == &arena_.device();
    (on_device ? need.device : need.host) += library->workspace_bytes(problem_);
    on_host = on_host || !on_device;
  }
  need.host += on_host ? static_cast<double>(operands.total) : 0.0;  // of which there is one set
  need.device *= static_cast<double>(arena_.devices());
  if (const auto reason = lacking_memory(need, arena_.info(), available_host_memory())) {
    throw Error(Status::out_of_memory, *reason);
  }
}

void Match::prepare(ReferenceLibrary& library, std::size_t other) {
  OtherTime& time = row_.others[other];
  try {
    GuardedOperands& sets = sets_for(library);
    auto multiplication = library.prepare(problem_, sets.operands(0));
    sets.restore_c(library.queue());
    multiplication->execute(sets.operands(0));
    const Verdict verdict = judge_->look_at_c(sets, library.queue());
    time.worst_error = verdict.worst_error;
    const bool is_bound = library.is_fp32_accurate();
    if (library.has_our_bits() && verdict.fingerprint != row_.verdict.fingerprint) {
      time.unavailable = "its bits are not those of ours";
    } else if (verdict.ok() || (!is_bound && verdict.not_finite == 0 && verdict.overwritten == 0)) {
      enter({library.title(), std::move(multiplication), &library.queue(), &sets, other});
    } else {
      time.unavailable = why_wrong(verdict);
    }
  } catch (const Error& error) {
    time.unavailable = error.what();
  }
}

// Whoever cannot be timed, say because its commands cannot be recorded, fails now and not among the others.
void Match::enter(Entrant entrant) {
  run(entrant, 1);
  entrants_.push_back(std::move(entrant));
}

GuardedOperands& Match::sets_for(ReferenceLibrary& library) {
  std::optional<GuardedOperands>& sets = &library.device() == &arena_.device() ? sets_ : host_sets_;
  if (!sets) {
    sets.emplace(problem_, count_, library.device(), library.queue());
  }
  return *sets;
}

void Match::add_contenders(std::vector<Contender>& contenders) {
  for (Entrant& entrant : entrants_) {
    const std::string name = arena_.info().backend + ": " + label() + ": " + entrant.name;
    contenders.push_back({name, [this, &entrant, name](int repeats) {
                            try {
                              return run(entrant, repeats);
                            } catch (const Error& error) {
                              throw Error(error.status(), name + ": " + error.what());
                            }
                          }});
  }
}

void Match::take_samples(std::vector<Samples>::iterator& next) {
  for (const Entrant& entrant : entrants_) {
    (entrant.other == nobody ? row_.ours : row_.others[entrant.other].samples) = std::move(*next++);
  }
}

double Match::run_at_once(Entrant& entrant, int repeats) {
  const std::size_t callers = arena_.callers();
  std::vector<std::future<Clock::time_point>> ends;
  std::barrier all_here(static_cast<std::ptrdiff_t>(callers) + 1);
  for (std::size_t caller = 0; caller < callers; ++caller) {
    ends.push_back(std::async(std::launch::async, [&, caller] {
      all_here.arrive_and_wait();
      const Clock::time_point start = Clock::now();
      const double seconds =
          entrant.multiplication->timed(repeats, [&](int) { return entrant.sets->operands(caller); });
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

double Match::run(Entrant& entrant, int repeats) {
  if (arena_.callers() > 1) {
    return run_at_once(entrant, repeats);
  }
  const auto turn = [&](int execution) {
    return entrant.sets->operands(static_cast<std::size_t>(execution));
  };
  if (!arena_.records(*entrant.queue)) {
    arena_.clear_caches();
    return entrant.multiplication->timed(repeats, turn);
  }
  if (entrant.recorded_repeats != repeats) {
    entrant.recording = entrant.queue->record([&] {
      for (int i = 0; i < repeats; ++i) {
        entrant.multiplication->enqueue(turn(i));
      }
    });
    entrant.recorded_repeats = repeats;
    entrant.recording->enqueue();  // the first time, a graph is also brought to the device
    entrant.queue->finish();
  }
  arena_.clear_caches();
  return entrant.queue->timed([&] { entrant.recording->enqueue(); });
}

}  // namespace duogemm::bench
