// A search knows this of one kind of operands: its probes, and the settings that are the best of each.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "tune/edge_check.h"
#include "tune/workbench.h"

namespace duogemm::bench {

struct Score {
  double seconds;
  std::int64_t splits;
};

// A setting that is looked at, with what is measured of it.
struct TriedSetting : Calibration {
  std::map<std::size_t, Score> scores = {};  // by probe
  double quality = 0.0;                      // the least ratio of its time to the best known, over the probes
};
using SharedSetting = std::shared_ptr<TriedSetting>;

struct Field {
  OperandKind kind;
  std::vector<Probe> probes = {};
  std::vector<Problem> judges = {};
  std::vector<std::vector<SharedSetting>> best = {};  // of each probe, the fastest first
  std::map<const KernelSpec*, SettingSpace> spaces = {};
  std::deque<SharedSetting> seeds = {};
  std::vector<SharedSetting> looked_at = {};
  std::unique_ptr<EdgeCheck> check = {};
  std::optional<std::vector<Calibration>> fitted = {};  // once the search is over
  double regret = 1.0;

  static constexpr std::size_t bests_of_a_probe = 3;

  // Says whether every kernel of it is as fast for the problem as for its own.
  bool includes(const Problem& problem) const;
  // Those that are among the best of some probe, once each.
  std::set<SharedSetting> members() const;
  std::vector<Calibration> calibrations() const;
  // The time of the best of a probe; infinity where there is none.
  double incumbent(std::size_t probe) const;
};

// One for each kind of operands that was asked for and that kernels for the device tell apart. Seeds are of
// what is known, the first that are looked at. Throws unsupported where there is none.
std::vector<Field> make_fields(Workbench& bench, const std::vector<Tuning>& known);

// That of the problem; null when there is none.
const Field* field_of(const std::vector<Field>& fields, const Problem& problem);

}  // namespace duogemm::bench
