#include <algorithm>
#include <charconv>
#include <sstream>

#include "families/kernel_source.h"
#include "runner/runs.h"
#include "support/format.h"
#include "support/pattern.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t most_values = 1000;
constexpr std::size_t most_points = 10000;

[[noreturn]] void reject_axis(const std::string& text, const std::string& why) {
  reject("--over " + text + ": " + why);
}

std::int64_t number(const std::string& digits, const std::string& text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || stop != digits.data() + digits.size()) {
    reject_axis(text, digits + " is not a number that fits");
  }
  return value;
}

bool overlap(const Axis& a, const Axis& b) {
  return a.name == b.name || (a.is_size() && b.is_size() && (a.name == "size" || b.name == "size"));
}

// Throws when an axis is nothing that the kernel has, or what another one or --set decides.
void require_axes(const SweepRequest& request, const KernelSpec& spec) {
  const std::vector<TunableDeclaration>& declared = load_kernel(spec.path).tunables;
  for (const Axis& axis : request.axes) {
    const bool known = std::ranges::any_of(
        declared, [&](const TunableDeclaration& tunable) { return tunable.name == axis.name; });
    if (!axis.is_size() && !known) {
      reject("--over " + axis.name + ": kernel " + spec.name + " has no such tunable; it has " +
             join(declared, ", ", &TunableDeclaration::name) + ", and sizes are m, n, k and size");
    }
    if (request.set.contains(axis.name)) {
      reject("--over " + axis.name + ": --set decides it already");
    }
  }
  if (request.axes.size() == 2 && overlap(request.axes[0], request.axes[1])) {
    reject("--over " + request.axes[0].name + " and --over " + request.axes[1].name + " are of the same");
  }
}

void place(Shape& shape, const std::string& name, std::int64_t value) {
  for (const auto& [size, own] : {std::pair(&Shape::m, "m"), {&Shape::n, "n"}, {&Shape::k, "k"}}) {
    if (name == own || name == "size") {
      shape.*size = value;
    }
  }
}

// The last axis goes fastest.
std::vector<SweepPoint> make_points(const SweepRequest& request) {
  std::size_t count = 1;
  for (const Axis& axis : request.axes) {
    count *= axis.values.size();
  }
  if (count > most_points) {
    reject("--over: " + std::to_string(count) + " points are more than " + std::to_string(most_points));
  }
  std::vector<SweepPoint> points(1);
  points.front().shape = *request.shape;
  points.front().row.setting.tunables = request.set;
  for (const Axis& axis : request.axes) {
    std::vector<SweepPoint> further;
    for (const SweepPoint& point : points) {
      for (const std::int64_t value : axis.values) {
        SweepPoint& next = further.emplace_back(point);
        next.at.push_back(value);
        if (axis.is_size()) {
          place(next.shape, axis.name, value);
        } else {
          next.row.setting.tunables[axis.name] = static_cast<int>(value);
        }
      }
    }
    points = std::move(further);
  }
  for (auto& [at, shape, invalid, row, reference] : points) {
    try {
      row.setting = kernel_setting(request.kernel, row.setting.tunables, request.switches);
    } catch (const Error& error) {
      if (error.status() != Status::invalid_argument) {
        throw;
      }
      invalid = error.what();
    }
  }
  return points;
}

// Measures the points of one shape; where there is not the memory for it, none of them is possible.
void run_shape(const SweepRequest& request, const std::vector<SweepPoint*>& together, SweepReport& report,
               Progress& progress) {
  const Shape shape = together.front()->shape;
  LadderRequest ladder = request;
  ladder.shape = shape;
  ladder.abilities = report.peak == 0.0;
  for (const SweepPoint* point : together) {
    ladder.settings.push_back(point->row.setting);
  }
  LadderReport run;
  try {
    run = run_ladder(ladder, progress).front();
  } catch (const Error& error) {
    if (error.status() != Status::out_of_memory && error.status() != Status::invalid_argument) {
      throw;
    }
    for (SweepPoint* point : together) {
      point->invalid = error.what();
    }
    return;
  }
  for (const std::string& warning : run.warnings(request.measure.noise)) {
    report.warnings.push_back(to_text(shape) + ": " + warning);
  }
  report.peak = std::max(report.peak, run.peak);
  report.reference = run.reference.name;
  report.gpu_during.insert(report.gpu_during.end(), run.gpu_during.begin(), run.gpu_during.end());
  for (std::size_t i = 0; i < together.size(); ++i) {
    together[i]->row = std::move(run.rows[i]);
    together[i]->reference =
        run.reference.samples.seconds.empty() ? 0.0 : shape.flops() / run.reference.samples.median();
  }
}

void give_up_the_rest(SweepReport& report) {
  std::size_t count = 0;
  for (SweepPoint& point : report.points) {
    if (!point.done()) {
      point.invalid = "interrupted before it was measured";
      ++count;
    }
  }
  if (count > 0) {
    report.warnings.push_back("the run was interrupted: " + std::to_string(count) + " points are missing");
  }
}

}  // namespace

bool Axis::is_size() const { return name == "m" || name == "n" || name == "k" || name == "size"; }

Axis parse_axis(const std::string& text) {
  static const Pattern list(R"((\w+)=(\d+(?:,\d+)*))");
  static const Pattern range(R"((\w+)=(\d+):(\d+)(?::(x?)(\d+))?)");
  if (const std::vector<std::string> match = list.match(text); !match.empty()) {
    Axis axis{match[1], {}};
    std::istringstream parts(match[2]);
    for (std::string part; std::getline(parts, part, ',');) {
      axis.values.push_back(number(part, text));
    }
    return axis;
  }
  const std::vector<std::string> match = range.match(text);
  if (match.empty()) {
    reject_axis(text, "expected NAME=FROM:TO, NAME=FROM:TO:STEP, NAME=FROM:TO:xFACTOR or NAME=VALUE,VALUE");
  }
  Axis axis{match[1], {}};
  const std::int64_t step = match[5].empty() ? 1 : number(match[5], text);
  const bool factor = !match[4].empty();
  const std::int64_t from = number(match[2], text);
  const std::int64_t to = number(match[3], text);
  if (from > to || step < (factor ? 2 : 1) || (factor && from < 1)) {
    reject_axis(text, "a range goes up, by steps of at least 1 or a factor of at least 2");
  }
  for (std::int64_t value = from; value <= to; value = factor ? value * step : value + step) {
    if (axis.values.size() == most_values) {
      reject_axis(text, "more than " + std::to_string(most_values) + " values");
    }
    axis.values.push_back(value);
  }
  return axis;
}

double SweepPoint::speed() const { return shape.flops() / row.samples.median(); }

bool SweepReport::ok() const {
  return std::all_of(points.begin(), points.end(), [](const SweepPoint& point) {
    return point.ran() ? point.row.right() : !point.row.is_broken;
  });
}

SweepReport run_sweep(const SweepRequest& request, Progress& progress, const AfterShape& after_shape) {
  SweepReport report;
  report.device = request.devices.front().info();
  report.spec = kernel_setting(request.kernel, request.set, request.switches).spec;
  report.axes = request.axes;
  require_axes(request, *report.spec);
  report.points = make_points(request);
  for (const SweepPoint& first : report.points) {
    if (first.done()) {
      continue;
    }
    if (request.measure.stopped()) {
      break;
    }
    std::vector<SweepPoint*> together;
    for (SweepPoint& point : report.points) {
      if (!point.done() && point.shape == first.shape) {
        together.push_back(&point);
      }
    }
    run_shape(request, together, report, progress);
    if (first.invalid.empty() && !request.measure.stopped()) {
      after_shape(report);
    }
  }
  if (std::ranges::none_of(report.points, [](const SweepPoint& point) { return point.invalid.empty(); })) {
    reject("--over: no point is possible; the first: " + report.points.front().invalid);
  }
  give_up_the_rest(report);
  return report;
}

}  // namespace duogemm::bench
