// A device in a run: its queue, who multiplies there, and the conditions under which all of them are timed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ladder/ladder.h"
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
  // Which failures are said in its row; others end the run.
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
  bool is_essential = false;  // without its result, nobody else multiplies
};

class Session {
 public:
  Session(const ChosenDevice& chosen, const Conditions& conditions);

  Runtime& runtime() { return runtime_; }
  Device& device() { return runtime_.device(); }
  const DeviceInfo& info() { return device().info(); }
  Queue& queue() { return *queue_; }
  ProgramCache& programs() { return programs_; }

  // A kernel with the setting's plan, or with another one.
  void add(const LadderSetting& setting, Entry::MakePlan plan = {}, bool is_split = false);
  // entry: what is to be said of the library besides its names.
  void add(std::unique_ptr<ReferenceLibrary> library, Entry entry = {});
  const std::vector<Entry>& entries() const { return entries_; }
  void remove_entries() { entries_.clear(); }

  // Samples on such a queue are graphs.
  bool records(const Queue& queue) const { return graph_ && &queue == queue_.get(); }
  // The executions within a sample take this many sets of operands of `bytes` in turn. Callers at once have
  // one each.
  std::size_t sets(std::size_t bytes) { return cold_ ? ColdCaches::sets(bytes, info()) : callers_; }
  std::size_t callers() const { return callers_; }
  // Before a sample: leaves nothing of the operands in a cache when they are to be cold.
  void clear_caches();
  // Device memory in use besides operands and workspaces.
  std::size_t own_bytes() { return cold_ ? ColdCaches::bytes(info()) : 0; }

 private:
  Runtime runtime_;
  std::unique_ptr<Queue> queue_;
  ProgramCache programs_;
  std::vector<std::shared_ptr<ReferenceLibrary>> libraries_;
  std::vector<Entry> entries_;
  const bool graph_;
  const std::size_t callers_;
  std::optional<ColdCaches> cold_;  // only when operands are to be cold
};

using Sessions = std::vector<std::unique_ptr<Session>>;

}  // namespace duogemm::bench
