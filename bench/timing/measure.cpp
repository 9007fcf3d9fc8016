#include "timing/measure.h"

#include <algorithm>
#include <cmath>

namespace duogemm {
namespace {

// The value at `fraction` of the sorted values, between neighbours by linear interpolation.
double quantile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const double position = fraction * static_cast<double>(values.size() - 1);
  const std::size_t below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

class Turn {
 public:
  Turn(const Contender& contender, const MeasureOptions& options)
      : contender_(contender), options_(options) {}

  // The first run pays for compilation and cold caches; the others tell how often a sample repeats the work.
  // A short run is mostly the way to the device and back, so one is not enough to tell.
  void warm_up() {
    constexpr double first_time = 10.0;  // the first run may take this many times longer than later ones
    once_ = run(1) / first_time;
    if (is_hopeless()) {
      return;
    }
    once_ = run(1);
    double total = once_;
    for (int attempt = 0; attempt < 3 && !is_hopeless() && total < 0.9 * options_.sample_seconds; ++attempt) {
      const double wanted = std::ceil(samples_.repeats * options_.sample_seconds / std::max(total, 1e-9));
      const int more = static_cast<int>(std::clamp<double>(wanted, 1, options_.most_repeats));
      if (more == samples_.repeats) {
        break;
      }
      samples_.repeats = more;
      total = run(more);
    }
  }

  void take() { samples_.seconds.push_back(run(samples_.repeats) / samples_.repeats); }

  bool done() const {
    const std::size_t count = samples_.seconds.size();
    if (count < options_.min_samples) {
      return count > 0 && (spent_ >= options_.patience || is_hopeless());
    }
    return count >= options_.max_samples || spent_ >= options_.seconds || samples_.noise() < options_.noise;
  }

  const Contender& contender() const { return contender_; }
  Samples&& samples() { return std::move(samples_); }

 private:
  double run(int repeats) {
    const double taken = contender_.run(repeats);
    spent_ += taken;
    return taken;
  }
  bool is_hopeless() const { return once_ > options_.hopeless; }

  const Contender& contender_;
  const MeasureOptions& options_;
  Samples samples_;
  double once_ = 0.0;  // what the work takes, about
  double spent_ = 0.0;
};

}  // namespace

double Samples::median() const { return quantile(seconds, 0.5); }

double Samples::spread() const { return (quantile(seconds, 0.75) - quantile(seconds, 0.25)) / median(); }

double Samples::noise() const { return 1.57 * spread() / std::sqrt(static_cast<double>(seconds.size())); }

std::vector<Samples> measure(std::span<const Contender> contenders, const MeasureOptions& options,
                             const std::function<void(const std::string&)>& progress) {
  std::vector<Turn> turns;
  for (const Contender& contender : contenders) {
    turns.emplace_back(contender, options);
    if (!options.stopped()) {
      progress(contender.name);
      turns.back().warm_up();
    }
  }
  for (bool any = true; any;) {
    any = false;
    for (Turn& turn : turns) {
      if (!options.stopped() && !turn.done()) {
        progress(turn.contender().name);
        turn.take();
        any = true;
      }
    }
  }
  std::vector<Samples> samples;
  for (Turn& turn : turns) {
    samples.push_back(turn.samples());
  }
  return samples;
}

}  // namespace duogemm
