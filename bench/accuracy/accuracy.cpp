#include "accuracy/accuracy.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "check/oracle.h"
#include "machine/memory_need.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "references/own_library.h"
#include "runtime/runtime.h"
#include "support/interrupt.h"
#include "support/table.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

// Multiply-adds that computing elements anew may take, and how many rows and columns it takes at least.
constexpr double reference_work = 1 << 26;
constexpr std::int64_t fewest_lines = 32;

// So many numbers below `end`, at equal distances, the first and the last among them.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t end) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(count == 1 ? 0 : i * (end - 1) / (count - 1));
  }
  return numbers;
}

// A product with its matrices on the host, and what some of its elements must be.
class Sample {
 public:
  Sample(const InputClass& input, std::int64_t size, std::int64_t k)
      : size_(size),
        k_(k),
        lines_(spread(std::min(size, std::max(fewest_lines, static_cast<std::int64_t>(std::sqrt(
                                                                reference_work / static_cast<double>(k))))),
                      size)),
        a_(make_a(input, size, k)),
        b_(make_b(input, k, size)),
        oracle_(Problem::packed(count(), count(), k), rows_of_a(), columns_of_b(), {}) {}

  std::span<const float> a() const { return a_; }
  std::span<const float> b() const { return b_; }
  std::size_t elements() const { return lines_.size() * lines_.size(); }

  // c: the whole result.
  Accuracy measure(std::span<const float> c) const {
    Accuracy accuracy;
    for (std::int64_t col = 0; col < count(); ++col) {
      for (std::int64_t row = 0; row < count(); ++row) {
        const double units =
            oracle_.units(row, col, c[static_cast<std::size_t>(line(col) * size_ + line(row))]);
        accuracy.largest = std::max(accuracy.largest, units);
        accuracy.mean += units / static_cast<double>(elements());
      }
    }
    return accuracy;
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(lines_.size()); }
  std::int64_t line(std::int64_t i) const { return lines_[static_cast<std::size_t>(i)]; }

  std::vector<float> rows_of_a() const {
    std::vector<float> chosen;
    for (std::int64_t p = 0; p < k_; ++p) {
      for (const std::int64_t row : lines_) {
        chosen.push_back(a_[static_cast<std::size_t>(p * size_ + row)]);
      }
    }
    return chosen;
  }
  std::vector<float> columns_of_b() const {
    std::vector<float> chosen;
    for (const std::int64_t col : lines_) {
      const auto begin = b_.begin() + col * k_;
      chosen.insert(chosen.end(), begin, begin + k_);
    }
    return chosen;
  }

  std::int64_t size_, k_;
  std::vector<std::int64_t> lines_;
  std::vector<float> a_, b_;
  Oracle oracle_;
};

// A sample's matrices in a device's memory, where C is NaN before each product.
class Matrices {
 public:
  Matrices(const Sample& sample, std::size_t c_elements, Device& device, Queue& queue)
      : queue_(queue),
        a_(device.allocate(sample.a().size_bytes())),
        b_(device.allocate(sample.b().size_bytes())),
        c_(device.allocate(c_elements * sizeof(float))),
        result_(c_elements) {
    queue.write(*a_, sample.a().data(), sample.a().size_bytes());
    queue.write(*b_, sample.b().data(), sample.b().size_bytes());
  }

  PreparedPlan::Operands operands() const { return {MatrixPlace{a_.get()}, {b_.get()}, {c_.get()}}; }

  std::span<const float> result_of(const std::function<void()>& multiply) {
    std::ranges::fill(result_, std::numeric_limits<float>::quiet_NaN());
    queue_.write(*c_, result_.data(), result_.size() * sizeof(float));
    multiply();
    queue_.read(*c_, result_.data(), result_.size() * sizeof(float));
    return result_;
  }

 private:
  Queue& queue_;
  std::unique_ptr<Buffer> a_, b_, c_;
  std::vector<float> result_;
};

class Measuring {
 public:
  explicit Measuring(const AccuracyRequest& request)
      : request_(request),
        runtime_(request.device.backend->open(request.device.index, {})),
        info_(runtime_.device().info()),
        queue_(runtime_.device().create_queue()),
        own_(make_own_library(Through::device, runtime_, *queue_, Precision::fp32)),
        libraries_(libraries_in_other_precisions(runtime_.device(), *queue_)) {
    if (auto library = main_library(runtime_.device(), *queue_)) {
      libraries_.insert(libraries_.begin(), std::move(library));
    }
    require_memory();
  }

  AccuracyReport report() const {
    AccuracyReport report{.device = info_, .size = request_.size, .precisions = request_.precisions};
    for (const auto& library : libraries_) {
      report.others.push_back({library->title(), library->name()});
    }
    return report;
  }

  AccuracyRow row(const InputClass& input, std::int64_t k) {
    const Sample sample(input, request_.size, k);
    AccuracyRow row{.input = input,
                    .k = k,
                    .elements = sample.elements(),
                    .bound = 2.0 * std::sqrt(static_cast<double>(k)) + 4.0};
    Matrices matrices(sample, c_elements(), runtime_.device(), *queue_);
    std::deque<Matrices> elsewhere;
    std::vector<Contender> contenders;  // those that have a result
    for (const Precision precision : request_.precisions) {
      row.ours.push_back(ours(sample, problem(k, precision), matrices, contenders));
    }
    for (const auto& library : libraries_) {
      const bool here = &library->device() == &runtime_.device();
      if (!here) {
        elsewhere.emplace_back(sample, c_elements(), library->device(), library->queue());
      }
      row.others.push_back(theirs(sample, *library, problem(k, Precision::fp32),
                                  here ? matrices : elsewhere.back(), contenders));
    }
    if (request_.timed) {
      time(row, contenders);
    }
    return row;
  }

 private:
  std::size_t c_elements() const { return static_cast<std::size_t>(request_.size * request_.size); }

  Problem problem(std::int64_t k, Precision precision) const {
    Problem problem = Problem::packed(request_.size, request_.size, k);
    problem.precision = precision;
    return problem;
  }

  // Of the largest product: its matrices on the host, and twice what is computed anew, and on the device.
  void require_memory() const {
    const std::int64_t k = *std::ranges::max_element(request_.ks);
    const Problem p = problem(k, Precision::fp32);
    MemoryNeed need = guarded_need(p);
    need.host += 3 * need.device;
    for (const Precision precision : request_.precisions) {
      need.add_workspaces(plan_sgemm(problem(k, precision), info_));
    }
    for (const auto& library : libraries_) {
      need.device += library->workspace_bytes(p);
    }
    bench::require_memory("K=" + std::to_string(k) + ":", need, info_);
  }

  // The contenders are those of the row that have a result, in its order. They take turns.
  static void time(AccuracyRow& row, std::span<const Contender> contenders) {
    const MeasureOptions options{.noise = 0.005, .seconds = 0.2, .stop = &interrupted()};
    const std::vector<Samples> samples = measure(contenders, options, [](const std::string&) {});
    auto next = samples.begin();
    for (auto* accuracies : {&row.ours, &row.others}) {
      for (Accuracy& accuracy : *accuracies) {
        if (accuracy.unavailable.empty()) {
          accuracy.seconds = next->seconds.empty() ? std::nullopt : std::optional(next->median());
          ++next;
        }
      }
    }
  }

  // Whoever has a result is kept where it is to be timed.
  Accuracy measured(const Sample& sample, ReferenceLibrary& library, const Problem& problem,
                    Matrices& matrices, std::vector<Contender>& contenders) const {
    const std::shared_ptr<Reference> multiplication = library.prepare(problem, matrices.operands());
    Accuracy accuracy =
        sample.measure(matrices.result_of([&] { multiplication->execute(matrices.operands()); }));
    if (request_.timed) {
      contenders.push_back({library.title(), [multiplication, &matrices](int repeats) {
                              return multiplication->timed(repeats, [&](int) { return matrices.operands(); });
                            }});
    }
    return accuracy;
  }

  Accuracy ours(const Sample& sample, const Problem& problem, Matrices& matrices,
                std::vector<Contender>& contenders) const {
    try {
      const Plan plan = plan_sgemm(problem, info_);
      Accuracy accuracy = measured(sample, *own_, problem, matrices, contenders);
      accuracy.kernel = plan.steps.at(plan.multiply).kernel->spec->name;
      return accuracy;
    } catch (const Error& error) {
      if (error.status() != Status::unsupported && error.status() != Status::out_of_memory) {
        throw;
      }
      return {.unavailable = error.what()};
    }
  }

  Accuracy theirs(const Sample& sample, ReferenceLibrary& library, const Problem& problem, Matrices& matrices,
                  std::vector<Contender>& contenders) const {
    try {
      return measured(sample, library, problem, matrices, contenders);
    } catch (const Error& error) {
      return {.unavailable = error.what()};
    }
  }

  const AccuracyRequest& request_;
  Runtime runtime_;
  const DeviceInfo info_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<ReferenceLibrary> own_;
  std::vector<std::unique_ptr<ReferenceLibrary>> libraries_;
};

// The error of cuBLAS's FP32; nothing where there is none.
std::optional<double> yardstick(const AccuracyRow& row, const std::vector<AccuracyPeer>& others) {
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others[i].title == "cuBLAS" && row.others[i].unavailable.empty()) {
      return row.others[i].largest;
    }
  }
  return std::nullopt;
}

// The largest error of FP32 in the row, ours and cuBLAS's.
double error_of_fp32(const AccuracyRow& row, const std::vector<Precision>& precisions,
                     const std::vector<AccuracyPeer>& others) {
  double error = yardstick(row, others).value_or(0.0);
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    error = precisions[i] == Precision::fp32 ? std::max(error, row.ours[i].largest) : error;
  }
  return error;
}

// What one precision may reach. Where all roundings of a sum go the same way, a chain of FP32 has more than
// the bound, but never more than k + 3.
double limit_of(Precision precision, const AccuracyRow& row, double error_of_fp32) {
  const double chain = static_cast<double>(row.k) + 3.0;
  return precision == Precision::fp32 ? chain : std::max(row.bound, std::min(error_of_fp32, chain));
}

}  // namespace

bool AccuracyReport::ok() const {
  return std::ranges::all_of(rows, [](const AccuracyRow& row) { return row.fault.empty(); });
}

std::string fault_of(const AccuracyRow& row, const std::vector<Precision>& precisions,
                     const std::vector<AccuracyPeer>& others) {
  const std::optional<double> peer = yardstick(row, others);
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    const Accuracy& ours = row.ours[i];
    const std::string name = to_text(precisions[i]);
    if (!ours.unavailable.empty()) {
      continue;
    }
    if (row.input.exact && ours.largest != 0.0) {
      return name + " is not exact";
    }
    const double limit = limit_of(precisions[i], row, error_of_fp32(row, precisions, others));
    if (!(ours.largest <= limit)) {
      return name + format(" is above the bound of %.1f", limit);
    }
    const bool compared = precisions[i] != Precision::fp32 && row.k >= least_compared_k && peer;
    if (compared && !(ours.largest <= std::max(worst_ratio * *peer, always_good))) {
      return name + format(" is above %.2f of cuBLAS's error", worst_ratio);
    }
  }
  return "";
}

AccuracyReport run_accuracy(const AccuracyRequest& request, Progress& progress,
                            const std::function<void(const AccuracyReport&)>& after_row) {
  Measuring measuring(request);
  AccuracyReport report = measuring.report();
  for (const InputClass& input : request.inputs) {
    for (const std::int64_t k : request.ks) {
      if (interrupted()) {
        report.interrupted = true;
        return report;
      }
      progress.show(input.name + ", K=" + std::to_string(k));
      report.rows.push_back(measuring.row(input, k));
      report.rows.back().fault = fault_of(report.rows.back(), report.precisions, report.others);
      progress.clear();
      after_row(report);
    }
  }
  return report;
}

}  // namespace duogemm::bench
