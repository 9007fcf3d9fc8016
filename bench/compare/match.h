// One shape on one device: everybody's result is judged, and those that are right take part in the timing.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "check/judge.h"
#include "compare/arena.h"
#include "compare/compare_report.h"

namespace duogemm::bench {

class Match {
 public:
  using Show = std::function<void(const std::string& who)>;

  // Judges ours, then the libraries. What the device cannot hold or run is skipped, and a library that fails
  // or is wrong does not take part; where ours fails, this throws an Error that names the shape.
  Match(Arena& arena, const std::string& list, const NamedShape& shape, const Show& show);

  // Those that take part; take_samples expects their samples in the same order. None where ours is wrong.
  void add_contenders(std::vector<Contender>& contenders);
  void take_samples(std::vector<Samples>::iterator& next);
  CompareRow take_row() { return std::move(row_); }

 private:
  // Somebody who multiplies, on which operands, and where the samples go.
  struct Entrant {
    std::string name;
    std::unique_ptr<Reference> multiplication;
    Queue* queue;
    const GuardedOperands* sets;
    std::size_t other;  // which of the row's; nobody's for ours
    std::unique_ptr<Recording> recording = nullptr;
    int recorded_repeats = 0;
  };
  void prepare_ours();
  void judge_ours(Reference& ours, GuardedOperands& sets, Queue& queue);
  void require_memory(const Plan& plan) const;
  // The library takes part as the row's `other`, or that says why it does not.
  void prepare(ReferenceLibrary& library, std::size_t other);
  void enter(Entrant entrant);
  GuardedOperands& sets_for(ReferenceLibrary& library);
  std::string label() const { return row_.list + "/" + row_.shape.label; }
  double run(Entrant& entrant, int repeats);
  // The same by all callers at once: seconds from one result to the next, whoever's.
  double run_at_once(Entrant& entrant, int repeats);

  Arena& arena_;
  const Problem problem_;
  const std::size_t count_;  // of sets of operands
  CompareRow row_;
  // On the device, and in the host's memory: where somebody works there.
  std::optional<GuardedOperands> sets_;
  std::optional<GuardedOperands> host_sets_;
  std::optional<Judge> judge_;
  std::vector<Entrant> entrants_;
};

}  // namespace duogemm::bench
