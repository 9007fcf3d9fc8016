#include "timing/measure.h"

#include <algorithm>
#include <cmath>

#include "support/progress.h"

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

struct Turn {
  const Contender& contender;
  const MeasureOptions& options;
  Samples samples = {};
  double once = 0.0;  // what the work takes, about
  double spent = 0.0;

  double run(int repeats) {
    const double taken = contender.run(repeats);
    spent += taken;
    return taken;
  }
  bool is_hopeless() const { return once > options.hopeless; }

  // The first run pays for compilation and cold caches; the others tell how often a sample repeats the work.
  // A short run is mostly the way to the device and back, so one is not enough to tell.
  void warm_up() {
    constexpr double first_time = 10.0;  // the first run may take this many times longer than later ones
    once = run(1) / first_time;
    if (is_hopeless()) {
      return;
    }
    once = run(1);
    double total = once;
    for (int attempt = 0; attempt < 3 && !is_hopeless() && total < 0.9 * options.sample_seconds; ++attempt) {
      const double wanted = std::ceil(samples.repeats * options.sample_seconds / std::max(total, 1e-9));
      const int more = static_cast<int>(std::clamp<double>(wanted, 1, options.most_repeats));
      if (more == samples.repeats) {
        break;
      }
      samples.repeats = more;
      total = run(more);
    }
  }

  bool done() const {
    const std::size_t count = samples.seconds.size();
    if (count < options.min_samples) {
      return count > 0 && (spent >= options.patience || is_hopeless());
    }
    return count >= options.max_samples || spent >= options.seconds || samples.noise() < options.noise;
  }

  // How long it may take yet, where samples take what they took so far.
  double seconds_left() const {
    if (done()) {
      return 0.0;
    }
    const double missing = is_hopeless() ? 1.0
                                         : static_cast<double>(options.min_samples) -
                                               static_cast<double>(samples.seconds.size());
    return std::max(options.seconds - spent, missing * samples.repeats * once);
  }
};

// "up to 40 s more: ", where it is worth a word.
std::string left_text(const std::vector<Turn>& turns) {
  double seconds = 0.0;
  for (const Turn& turn : turns) {
    seconds += turn.seconds_left();
  }
  return seconds < 1.0 ? "" : "up to " + bench::duration_text(seconds) + " more: ";
}

}  // namespace

double Samples::median() const { return quantile(seconds, 0.5); }

double Samples::spread() const { return (quantile(seconds, 0.75) - quantile(seconds, 0.25)) / median(); }

double Samples::noise() const { return 1.57 * spread() / std::sqrt(static_cast<double>(seconds.size())); }

std::vector<Samples> measure(std::span<const Contender> contenders, const MeasureOptions& options,
                             const std::function<void(const std::string&)>& progress) {
  std::vector<Turn> turns;
  for (const Contender& contender : contenders) {
    turns.push_back({contender, options});
    if (!options.stopped()) {
      progress(contender.name);
      turns.back().warm_up();
    }
  }
  for (bool any = true; any;) {
    any = false;
    const std::string left = left_text(turns);
    for (Turn& turn : turns) {
      if (!options.stopped() && !turn.done()) {
        progress(left + turn.contender.name);
        turn.samples.seconds.push_back(turn.run(turn.samples.repeats) / turn.samples.repeats);
        any = true;
      }
    }
  }
  std::vector<Samples> samples;
  for (Turn& turn : turns) {
    samples.push_back(std::move(turn.samples));
  }
  return samples;
}

}  // namespace duogemm
