// The one timing loop: contenders take turns until the noise of each one's median is low enough, or its time
// is up.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace duogemm {

struct Contender {
  std::string name;
  // Runs the work `repeats` times back to back and answers how many seconds all of them took.
  std::function<double(int repeats)> run;
};

inline constexpr int usual_most_repeats = 1000;

struct MeasureOptions {
  double noise = 0.01;          // stop when the noise of the median (see Samples::noise) is below this
  double seconds = 1.0;         // or when the contender has used this much time, warm-up included
  std::size_t min_samples = 5;  // but not before this many samples
  // A contender that has used this much time is done, be it after a single sample.
  double patience = std::numeric_limits<double>::infinity();
  // A contender whose work takes longer than this, once, is not looked at any closer: one sample has to do.
  double hopeless = std::numeric_limits<double>::infinity();
  std::size_t max_samples = 1000;
  double sample_seconds = 1e-3;           // short work is repeated within a sample until it takes this long
  int most_repeats = usual_most_repeats;  // but not more often than this
  // Once it is true nobody takes another turn: contenders have the samples that they have, which may be none.
  const std::atomic<bool>* stop = nullptr;

  bool stopped() const { return stop != nullptr && *stop; }
};

struct Samples {
  std::vector<double> seconds;  // for one execution each, in the order in which they were taken
  int repeats = 1;              // executions within each sample

  double median() const;
  // The interquartile range over the median.
  double spread() const;
  // Half the width of the notch around the median (McGill, Tukey, Larsen: "Variations of Box Plots", 1978)
  // over the median: two medians whose notches do not overlap differ at about the 95 percent level.
  double noise() const;
};

// Samples for each contender, in their order. `progress` is called before each turn with the contender's
// name, and how long all may take yet.
std::vector<Samples> measure(std::span<const Contender> contenders, const MeasureOptions& options,
                             const std::function<void(const std::string&)>& progress);

}  // namespace duogemm
