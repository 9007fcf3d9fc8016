// One problem on one device: everybody's result is judged, and then all are timed in turns.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/judge.h"
#include "machine/gpu_watch.h"
#include "machine/memory_need.h"
#include "runner/session.h"

namespace duogemm::bench {

using ShowWho = std::function<void(const std::string& who)>;

// An exam decides what the matrices hold and what is asked of a result.
class Exam {
 public:
  virtual ~Exam() = default;
  // The operands of an execution that is judged.
  virtual PreparedPlan::Operands places(const GuardedOperands& operands) const { return operands.operands(); }
  virtual std::unique_ptr<GuardedOperands> operands(std::size_t count, Device& device,
                                                    Queue& queue) const = 0;
  // Looks at what `multiply` leaves in the first set's C, and says in the row what it finds. Whether the
  // contender may be timed.
  virtual bool judge(const Entry& entry, const std::function<void()>& multiply, GuardedOperands& operands,
                     Queue& queue, Row& row) = 0;
};

class Trial {
 public:
  // Plans. each_step: the first steps of a kernel's plan are timed without the later ones, too.
  Trial(Session& session, const Problem& problem, bool each_step = false);

  const Problem& problem() const { return problem_; }
  // Counts the memory that it takes, but for what the exam has on the host.
  MemoryNeed need() const;
  void add_workspaces(MemoryNeed& need) const;
  // Makes the operands and judges everybody, or, once `stop` is true, nobody else.
  void judge(Exam& exam, const ShowWho& show, const std::atomic<bool>* stop);
  // Those that may be timed; take_samples expects their samples in the same order.
  void add_contenders(std::vector<Contender>& contenders);
  void take_samples(std::vector<Samples>::iterator& next);
  // In the order of the session's entries.
  const std::vector<Row>& rows() const { return rows_; }
  std::vector<Row> take_rows() { return std::move(rows_); }

 private:
  // This is timed, on these operands, and its samples go there.
  struct Timed {
    std::string name;
    std::shared_ptr<Reference> multiplication;
    Queue* queue;
    const GuardedOperands* sets;
    Samples* samples;
    std::unique_ptr<Recording> recording = nullptr;
    int recorded_repeats = 0;
  };
  // Calls `work`. A failure that the entry spares is said in its row.
  void spare(std::size_t i, const std::function<void()>& work);
  Problem problem_of(const Entry& entry) const;
  void plan(std::size_t i);
  // Everything of an entry that is to be timed, the whole multiplication first.
  std::vector<Timed> prepare(std::size_t i, const GuardedOperands& sets);
  GuardedOperands& sets_for(const Entry& entry, Exam& exam);
  double run(Timed& timed, int repeats);
  // The same by all callers at once: seconds from one result to the next, whoever's.
  double run_at_once(Timed& timed, int repeats);

  Session& session_;
  const Problem problem_;
  const bool each_step_;
  const std::size_t count_;  // of sets of operands
  std::vector<Row> rows_;
  std::vector<std::optional<Plan>> plans_;  // of kernels and of this library, by entry
  // On the device, and in the host's memory: where somebody works there.
  std::unique_ptr<GuardedOperands> sets_;
  std::unique_ptr<GuardedOperands> host_sets_;
  std::vector<Timed> timed_;
};

// One for each session: who multiplies there, everywhere, is timed in the same loop.
using Trials = std::vector<std::unique_ptr<Trial>>;

Trials plan_trials(const Sessions& sessions, const Problem& problem, bool each_step = false);

// Why all that is too much; nothing when it is there. host_bytes: of the exam, and of whatever else takes the
// machine's memory. extra_bytes: of a buffer on each device.
std::optional<std::string> lacking_memory(const Sessions& sessions, const Trials& trials, double host_bytes,
                                          double extra_bytes = 0.0);

void judge(const Sessions& sessions, const Trials& trials, Exam& exam, const MeasureOptions& options,
           const ShowWho& show);

// Rows may be without samples once `options.stop` is true.
void time_in_turns(const Trials& trials, const MeasureOptions& options, GpuWatch& watch, const ShowWho& show);

}  // namespace duogemm::bench
