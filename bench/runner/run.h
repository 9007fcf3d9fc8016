// The one run: on each device there is a session with everybody who multiplies there; on each problem all
// results are judged, and then all are timed in turns.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/judge.h"
#include "machine/gpu_watch.h"
#include "machine/memory_need.h"
#include "references/own_library.h"
#include "runner/row.h"
#include "support/device_choice.h"
#include "timing/cold_caches.h"

namespace duogemm::bench {

struct Conditions {
  bool cold = false;        // operands come from memory, not from a cache
  bool graph = false;       // through CUDA, the executions within a sample are one graph
  std::size_t callers = 1;  // threads that call at once, on plain arrays
  DeviceOptions device_options = {};
};

// Somebody who multiplies: a kernel with a setting, this library as its users call it, or another library.
struct Entry {
  using MakePlan = std::function<Plan(const Problem& problem, const DeviceInfo& device)>;
  // Which failures are said in its row, each with those before it; others end the run.
  enum class Spares { none, unsupported, lack_of_memory_too, all };

  std::string title = {};
  std::string name = {};
  ReferenceLibrary* library = nullptr;      // null for a kernel
  LadderSetting setting = {};               // of a kernel
  MakePlan plan = {};                       // of a kernel
  bool is_split = false;                    // the plan splits k, so that its bits are its own
  bool is_own = false;                      // this library
  std::optional<Precision> precision = {};  // that it is permitted, in place of the problem's
  Spares spares = Spares::all;
  bool spares_compiler = false;  // that refuses a kernel
  bool is_essential = false;     // without its result, nobody else multiplies
};

class Session {
 public:
  Session(const ChosenDevice& chosen, const Conditions& conditions);

  Runtime& runtime() { return runtime_; }
  Device& device() { return runtime_.device(); }
  const DeviceInfo& info() const { return runtime_.device().info(); }
  Queue& queue() { return *queue_; }
  ProgramCache& programs() { return programs_; }

  // A kernel with the setting's plan, or with another one.
  void add(const LadderSetting& setting, Entry::MakePlan plan = {}, bool is_split = false);
  // entry: what is to be said of the library besides its names.
  void add(std::unique_ptr<ReferenceLibrary> library, Entry entry = {});
  const std::vector<Entry>& entries() const { return entries_; }
  void remove_entries() { entries_.clear(); }
  // Tells whether fma rounds once: without it nobody owes the bits of a chain.
  bool fuses() const { return fuses_; }
  // All but this library and kernels.
  std::vector<Peer> peers() const;

 private:
  friend class Trial;

  Runtime runtime_;
  std::unique_ptr<Queue> queue_;
  ProgramCache programs_;
  std::vector<std::shared_ptr<ReferenceLibrary>> libraries_;
  std::vector<Entry> entries_;
  const bool fuses_;
  const bool graph_;
  const std::size_t callers_;
  std::optional<ColdCaches> cold_;  // only when operands are to be cold
};

// Contenders of all of them are timed in the same loop.
using Sessions = std::deque<Session>;

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

// Every element is computed anew, and everything around is looked at: nothing that is wrong is missed.
// Whoever has a result is timed, be it wrong. from_offsets: the operands begin at offsets in their buffers,
// with tables and scalars in memory where the problem has these.
std::unique_ptr<Exam> whole_exam(HostProblem host, Guards guards = Guards::bands, bool from_offsets = false);

// For problems of any size, of which some elements are computed anew. This library comes first: it must give
// the same bits twice, and whoever is not right, or has not the bits that it must have, is not timed.
std::unique_ptr<Exam> sampled_exam(const Problem& problem);

// One problem with everybody's plans for it.
class Trial {
 public:
  // each_step: the first steps of a kernel's plan are timed without the later ones, too.
  Trial(Sessions& sessions, const Problem& problem, bool each_step = false);
  Trial(Session& session, const Problem& problem) : problem_(problem) { add(session); }

  // Why all that is too much; nothing when it is there. host_bytes: of the exam, and of whatever else takes
  // the machine's memory. extra_bytes: of a buffer on each device.
  std::optional<std::string> lacking_memory(double host_bytes, double extra_bytes = 0.0) const;
  void add_workspaces(MemoryNeed& need) const;
  // Counts those that there is a plan for, whom judge() will name.
  std::size_t count() const;
  // Makes the operands and judges everybody, or, once `stop` is true, nobody else.
  void judge(Exam& exam, const ShowWho& show, const std::atomic<bool>* stop = nullptr);
  // Those that may be timed.
  std::vector<Contender> contenders();
  // Rows may be without samples once `options.stop` is true.
  void time(const MeasureOptions& options, GpuWatch& watch, const ShowWho& show);
  // Takes a session's, in the order of its entries; they are gone then.
  std::vector<Row> take_rows(std::size_t session = 0) { return std::move(sides_[session].rows); }

 private:
  // A session's part.
  struct Side {
    Session* session;
    std::vector<Row> rows;                   // by entry
    std::vector<std::optional<Plan>> plans;  // of kernels and of this library, by entry
    // On the device, and in the host's memory: where somebody works there.
    std::unique_ptr<GuardedOperands> sets = nullptr;
    std::unique_ptr<GuardedOperands> host_sets = nullptr;
  };
  // This is timed, on these operands, and its samples go there.
  struct Timed {
    Session* session;
    std::string name;
    std::shared_ptr<Reference> multiplication;
    Queue* queue;
    const GuardedOperands* sets;
    Samples* samples;
    std::unique_ptr<Recording> recording = nullptr;
    int recorded_repeats = 0;
  };
  void add(Session& session);
  Problem problem_of(const Entry& entry) const;
  void plan(const Entry& entry, const Session& session, Row& row, std::optional<Plan>& plan) const;
  std::size_t sets_of(const Session& session, const DeviceInfo& device) const;
  MemoryNeed need(const Side& side) const;
  // Tells whether the entry may be timed.
  bool judge(Side& side, std::size_t entry, Exam& exam);
  // Everything of an entry that is to be timed, the whole multiplication first.
  std::vector<Timed> prepare(Side& side, std::size_t entry, const GuardedOperands& sets, Queue& queue) const;
  // Seconds from one result to the next.
  static double run(Timed& timed, int repeats);

  const Problem problem_;
  const bool each_step_ = false;
  std::vector<Side> sides_;
  std::vector<Timed> timed_;
};

}  // namespace duogemm::bench
