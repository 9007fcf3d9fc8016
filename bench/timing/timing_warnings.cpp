#include "timing/timing_warnings.h"

#include <algorithm>
#include <thread>

#include "support/format.h"
#include "system/cores.h"

namespace duogemm::bench {
namespace {

constexpr double least_clock = 0.97;  // of the highest that was seen
constexpr double largest_spread = 0.10;
constexpr std::size_t most_named = 5;
// No library that is recorded under bench/results takes 18 times as long as duogemm on any shape.
constexpr double absurd = 20.0;
constexpr double busy_share = 0.5;  // of the cores

void add_clock(std::vector<std::string>& warnings, const std::vector<GpuMoment>& moments) {
  const auto slower = [](const GpuMoment& a, const GpuMoment& b) { return a.state.sm_mhz < b.state.sm_mhz; };
  const auto [slowest, fastest] = std::minmax_element(moments.begin(), moments.end(), slower);
  if (moments.empty() || slowest->state.sm_mhz >= least_clock * fastest->state.sm_mhz) {
    return;
  }
  const std::string& reason = slowest->state.slowed_by;
  warnings.push_back("the SM clock was between " + std::to_string(slowest->state.sm_mhz) + " and " +
                     std::to_string(fastest->state.sm_mhz) + " MHz during the run" +
                     (reason.empty() ? "" : ", held down by " + reason));
}

std::string listed(const std::vector<std::string>& names) {
  return join(std::span(names).first(std::min(names.size(), most_named))) +
         (names.size() > most_named ? ", and others" : "");
}

}  // namespace

std::vector<std::string> timing_warnings(const std::vector<GpuMoment>& moments,
                                         std::span<const NamedSamples> samples, double wanted_noise) {
  std::vector<std::string> warnings;
  add_clock(warnings, moments);
  std::vector<std::string> spread;
  std::vector<std::string> noisy;
  for (const auto& [name, of] : samples) {
    if (of->seconds.empty()) {
      continue;
    }
    if (of->spread() > largest_spread) {
      spread.push_back(name + format(" (%.0f%%)", 100.0 * of->spread()));
    }
    if (of->noise() > wanted_noise) {
      noisy.push_back(name + format(" (%.1f%%)", 100.0 * of->noise()));
    }
  }
  if (!spread.empty()) {
    warnings.push_back("samples spread by more than 10 percent: " + listed(spread));
  }
  if (!noisy.empty()) {
    warnings.push_back("time was up before the noise of the median was below" +
                       format(" %g percent: ", 100.0 * wanted_noise) + listed(noisy));
  }
  return warnings;
}

std::optional<std::string> slow_reference_warning(const std::string& reference, double times,
                                                  const std::string& compared) {
  if (!(times > absurd)) {
    return std::nullopt;
  }
  return reference + " is absurdly slow: it took " + format("%.0f", times) + " times as long as " + compared +
         ". Most likely other programs keep its threads from the cores; a share of it says nothing";
}

std::optional<std::string> busy_warning(double load, unsigned cores) {
  if (load < busy_share * cores) {
    return std::nullopt;
  }
  return format("the machine is busy (load average %.1f", load) + " on " + std::to_string(cores) +
         " cores): what is fastest now need not be when it is quiet";
}

std::optional<std::string> busy_warning() {
  return busy_warning(load_average(), std::thread::hardware_concurrency());
}

}  // namespace duogemm::bench
