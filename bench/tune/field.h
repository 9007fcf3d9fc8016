// What a search knows of one kind of operands, and which settings it looks at next.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>

#include "tune/selection.h"
#include "tune/trials.h"

namespace duogemm::bench {

// Says whether the device has the memory for the problem's operands.
bool fits(const Problem& problem, const DeviceInfo& device);

// A setting this many times slower than the best, over all probes, is of no use, and so are its neighbours.
inline constexpr double hopeless_quality = 2.0;

// A setting that is looked at, with what is measured of it.
struct TriedSetting : Calibration {
  double quality = 0.0;  // the least ratio of its time to the best known, over the probes
};
using SharedSetting = std::shared_ptr<TriedSetting>;

inline std::string name_of(const Calibration& setting) {
  return setting.spec->name + " " + to_text(setting.tunables);
}

struct Probe {
  std::string label;
  Problem problem;
  struct Score {
    SharedSetting setting;
    std::int64_t splits;
    double seconds;
  };
  std::vector<Score> best = {};  // the fastest first

  double seconds() const { return best.empty() ? infinity : best.front().seconds; }
};

struct Field {
  OperandKind kind;
  std::vector<Probe> probes = {};
  std::vector<Problem> judges = {};
  std::map<const KernelSpec*, SettingSpace> spaces = {};
  std::deque<SharedSetting> seeds = {};
  std::vector<SharedSetting> looked_at = {};
  std::unique_ptr<EdgeCheck> check = {};

  // Says whether every kernel of it is as fast for the problem as for its own.
  bool includes(const Problem& problem) const;
  // Those that are among the best of some probe, once each.
  std::set<SharedSetting> members() const;
  std::vector<Calibration> calibrations() const;

  // Adds the kernels' own settings, those that are known, and some at random.
  void add_seeds(const std::vector<Tuning>& known, const DeviceInfo& device, Random& random);
};

// Without probes for which the device has no memory, and without any kernels where none is for such operands.
Field make_field(const OperandKind& kind, const DeviceInfo& device);

// That of the problem; null when there is none.
Field* field_of(std::vector<Field>& fields, const Problem& problem);

// Proposes first the seeds, then children of those that are the best of a probe.
class Proposals {
 public:
  Proposals(std::vector<Field>& fields, Random& random) : fields_(fields), random_(random) {}

  struct Proposal {
    Field* field;
    SharedSetting setting;
  };
  // Up to `count`, of each field in turns; none when everything has been proposed.
  std::vector<Proposal> next(std::size_t count);

 private:
  SharedSetting propose(Field& field);
  SharedSetting breed(Field& field);

  std::vector<Field>& fields_;
  Random& random_;
  std::size_t turn_ = 0;  // whose the next proposal is
  std::set<std::string> proposed_;
};

}  // namespace duogemm::bench
