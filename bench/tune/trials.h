// Finds out how good a setting is: that it is right, and its position among the best of each probe.
#pragma once

#include "tune/calibration.h"
#include "tune/field.h"

namespace duogemm::bench {

struct TuneCounts {
  std::size_t proposed = 0;
  std::size_t refused = 0;  // by the compiler or the device
  std::size_t wrong = 0;
  std::size_t timed = 0;
  std::size_t improved = 0;  // best of some probe when they were timed
};

class SettingTrials {
 public:
  SettingTrials(Workbench& bench, TuneCounts& counts);

  // Checks the setting on problems that show mistakes, calibrates it for the cost model, and times it where
  // the model expects it among the best. Its kernel is forgotten where it is not.
  void look_at(Field& field, const SharedSetting& setting);

  // Times the best of each probe once more, in turns, and calibrates them: those that were lucky once are
  // seldom so twice.
  void measure_again(Field& field);

 private:
  void try_out(Field& field, const SharedSetting& setting);
  std::vector<Schedule> schedules_for(const Calibration& setting, const Problem& problem) const;
  double quality_of(const Field& field, const Calibration& setting) const;
  void time_on(Field& field, std::size_t probe, const SharedSetting& setting);
  Score best_slices(const Problem& problem, const Calibration& setting,
                    const std::vector<Schedule>& schedules, double incumbent);
  void enter(Field& field, std::size_t probe, const SharedSetting& setting);
  void time_again(const Field& field, std::size_t probe, std::span<const SharedSetting> settings,
                  const Effort& effort);
  void erase_unless_best(const Field& field, const TriedSetting& setting);

  Workbench& bench_;
  TuneCounts& counts_;
  Calibrator calibrator_;
};

}  // namespace duogemm::bench
