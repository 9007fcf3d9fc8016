// All that a search works with: the device and its clockwork, the options, and how much of the budget is
// left.
#pragma once

#include <atomic>
#include <chrono>
#include <limits>
#include <span>

#include "plan/select.h"
#include "support/shapes.h"
#include "timing/stopwatch.h"
#include "tune/setting_space.h"

namespace duogemm::bench {

struct TuneOptions {
  double budget = 300.0;  // seconds
  unsigned threads = 1;   // that compile
  std::uint64_t seed = 1;
  std::vector<std::string> ops;           // "NN", "TN"; all when empty
  std::vector<NamedShape> shapes;         // to search for the best of each, besides
  std::vector<NamedShape> judges;         // what else the planner's choices are judged by
  Precision precision = Precision::fp32;  // whose kernels are searched
};

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// A setting that is predicted, or at first sight, to be this many times slower than the best is not looked at
// any closer.
inline constexpr double far_slower = 1.3;

// The shares of the budget that probes, and problems that the planner is judged by at the end, may take once.
inline constexpr double probe_share = 1.0 / 5000;
inline constexpr double judge_share = probe_share / 4;

class Workbench {
 public:
  // Once `stop` is true, it comes to an end before the budget is used up.
  Workbench(Device& device, const TuneOptions& options, const std::atomic<bool>& stop);

  double seconds_left() const;
  double seconds_of(double share) const { return share * options.budget; }
  // Keeps a share of the budget for what comes later.
  void reserve(double share) { reserve_ = share; }
  bool stopped() const { return stop_; }
  bool enough() const { return stop_ || seconds_left() <= seconds_of(reserve_); }

  const DeviceInfo& info() const { return device.info(); }
  bool on_cpu() const { return info().kind == DeviceKind::cpu; }
  // Says whether the device has the memory for the problem's operands.
  bool fits(const Problem& problem) const;
  // As Stopwatch has it.
  double seconds(const Schedule& schedule, const Problem& problem, const Effort& effort);
  // The same of schedules that take turns.
  std::vector<double> seconds(std::span<const Schedule> schedules, const Problem& problem,
                              const Effort& effort);
  // Adds what a schedule runs to `kernels`.
  void add_kernels(const Schedule& schedule, const Problem& problem,
                   std::vector<const Variant*>& kernels) const;
  std::vector<std::optional<std::string>> compile(std::span<const Variant* const> kernels);

  Device& device;
  const TuneOptions options;
  ProgramCache programs;
  Stopwatch stopwatch;
  Tuning facts;  // of the device, without kernels
  Random random;

 private:
  const std::atomic<bool>& stop_;
  std::chrono::steady_clock::time_point end_;
  double reserve_ = 0.0;
};

inline std::string name_of(const Calibration& setting) {
  return setting.spec->name + " " + to_text(setting.tunables);
}

// By prediction, of at least one.
const Schedule& fastest(const std::vector<Schedule>& schedules);

// Says whether it is the setting that fails, and not the device.
inline bool is_of_setting(const Error& error) { return error.status() != Status::device_error; }

// Compiles kernels into `programs` on several threads until `enough` says so. Answers what the compiler said
// of each that it refused, an empty text where it went well, and nothing for those that nobody has begun.
std::vector<std::optional<std::string>> compile_all(std::span<const Variant* const> kernels,
                                                    ProgramCache& programs, unsigned threads,
                                                    const std::function<bool()>& enough);

}  // namespace duogemm::bench
