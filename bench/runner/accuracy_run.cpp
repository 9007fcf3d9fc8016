#include "runner/accuracy_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/oracle.h"
#include "problem/precision.h"
#include "runner/trial.h"
#include "support/format.h"
#include "support/interrupt.h"

namespace duogemm::bench {
namespace {

// Multiply-adds that computing elements anew may take, and how many rows and columns it takes at least.
constexpr double reference_work = 1 << 26;
constexpr std::int64_t fewest_lines = 32;

// `count` numbers below `end`, at equal distances, the first and the last among them.
std::vector<std::int64_t> spread(std::int64_t count, std::int64_t end) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(count == 1 ? 0 : i * (end - 1) / (count - 1));
  }
  return numbers;
}

// Some elements are computed anew: where some rows cross the columns of the same numbers.
class ErrorExam final : public Exam {
 public:
  ErrorExam(const InputClass& input, const Problem& problem, bool timed)
      : lines_(spread(std::min(problem.m,
                               std::max(fewest_lines, static_cast<std::int64_t>(std::sqrt(
                                                          reference_work / static_cast<double>(problem.k))))),
                      problem.m)),
        host_{problem,
              make_a(input, problem.m, problem.k),
              make_b(input, problem.k, problem.n),
              std::vector<float>(static_cast<std::size_t>(problem.m * problem.n),
                                 std::numeric_limits<float>::quiet_NaN()),
              {},
              {},
              {}},
        oracle_(Problem::packed(count(), count(), problem.k), rows_of_a(), columns_of_b(), {}),
        result_(host_.c.size()),
        timed_(timed) {}

  std::size_t elements() const { return lines_.size() * lines_.size(); }

  std::unique_ptr<GuardedOperands> operands(std::size_t sets, Device& device, Queue& queue) const override {
    return std::make_unique<GuardedOperands>(host_, device, queue, Guards::bands, sets);
  }

  bool judge(const Entry&, const std::function<void()>& multiply, GuardedOperands& operands, Queue& queue,
             Row& row) override {
    operands.restore_c(queue);
    multiply();
    const Buffer& c = *operands.operands()[static_cast<std::size_t>(operand_c.slot)].buffer;
    queue.read(c, result_.data(), result_.size() * sizeof(float));
    row.mean_error = 0.0;
    for (std::int64_t col = 0; col < count(); ++col) {
      for (std::int64_t at = 0; at < count(); ++at) {
        const auto element = static_cast<std::size_t>(line(col) * host_.problem.m + line(at));
        const double units = oracle_.units(at, col, result_[element]);
        row.verdict.worst_error = std::max(row.verdict.worst_error, units);
        *row.mean_error += units / static_cast<double>(elements());
      }
    }
    return timed_;
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(lines_.size()); }
  std::int64_t line(std::int64_t i) const { return lines_[static_cast<std::size_t>(i)]; }

  std::vector<float> rows_of_a() const {
    std::vector<float> chosen;
    for (std::int64_t p = 0; p < host_.problem.k; ++p) {
      for (const std::int64_t row : lines_) {
        chosen.push_back(host_.a[static_cast<std::size_t>(p * host_.problem.m + row)]);
      }
    }
    return chosen;
  }
  std::vector<float> columns_of_b() const {
    std::vector<float> chosen;
    for (const std::int64_t col : lines_) {
      const auto begin = host_.b.begin() + col * host_.problem.k;
      chosen.insert(chosen.end(), begin, begin + host_.problem.k);
    }
    return chosen;
  }

  std::vector<std::int64_t> lines_;
  HostProblem host_;
  Oracle oracle_;
  std::vector<float> result_;
  bool timed_;
};

Sessions session_of(const AccuracyRequest& request) {
  Sessions sessions;
  Session& session = *sessions.emplace_back(std::make_unique<Session>(request.device, Conditions{}));
  for (const Precision precision : request.precisions) {
    session.add(make_own_library(Through::device, session.runtime(), session.queue(), precision),
                {.title = to_text(precision),
                 .is_own = true,
                 .precision = precision,
                 .spares = Entry::Spares::lack_of_memory_too});
  }
  if (auto library = main_library(session.device(), session.queue())) {
    session.add(std::move(library));
  }
  for (auto& library : libraries_in_other_precisions(session.device(), session.queue())) {
    session.add(std::move(library));
  }
  return sessions;
}

// The largest product decides. On the host there are its matrices, and as much again of what is computed
// anew.
void require_memory(const AccuracyRequest& request, const Sessions& sessions) {
  const std::int64_t k = *std::ranges::max_element(request.ks);
  const Problem problem = Problem::packed(request.size, request.size, k);
  const double host_bytes = 3.0 * guarded_need(problem).device;
  if (const auto lacking = lacking_memory(sessions, plan_trials(sessions, problem), host_bytes)) {
    throw Error(Status::out_of_memory, "K=" + std::to_string(k) + ": " + *lacking);
  }
}

AccuracyRow measure_row(const AccuracyRequest& request, const Sessions& sessions, const InputClass& input,
                        std::int64_t k) {
  const auto show = [](const std::string&) {};
  const Problem problem = Problem::packed(request.size, request.size, k);
  const Trials trials = plan_trials(sessions, problem);
  ErrorExam exam(input, problem, request.timed);
  judge(sessions, trials, exam, {}, show);
  if (request.timed) {
    GpuWatch nobody("");
    time_in_turns(trials, {.noise = 0.005, .seconds = 0.2, .stop = &interrupted()}, nobody, show);
  }
  return {.input = input,
          .k = k,
          .elements = exam.elements(),
          .bound = 2.0 * std::sqrt(static_cast<double>(k)) + 4.0,
          .rows = trials.front()->take_rows()};
}

// The error of cuBLAS's FP32; nothing where there is none.
std::optional<double> yardstick(const AccuracyRow& row) {
  const auto found = std::ranges::find(row.rows, "cuBLAS", &Row::title);
  return found != row.rows.end() && found->missing.empty() ? std::optional(found->verdict.worst_error)
                                                           : std::nullopt;
}

// The largest error of FP32 in the row, ours and cuBLAS's.
double error_of_fp32(const AccuracyRow& row, const std::vector<Precision>& precisions) {
  double error = yardstick(row).value_or(0.0);
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    error = precisions[i] == Precision::fp32 ? std::max(error, row.rows[i].verdict.worst_error) : error;
  }
  return error;
}

// A precision may reach this error. Where all roundings of a sum go the same way, a chain of FP32 has more
// than the bound, but never more than k + 3.
double limit_of(Precision precision, const AccuracyRow& row, double error_of_fp32) {
  const double chain = static_cast<double>(row.k) + 3.0;
  return precision == Precision::fp32 ? chain : std::max(row.bound, std::min(error_of_fp32, chain));
}

}  // namespace

bool AccuracyReport::ok() const {
  return std::ranges::all_of(rows, [](const AccuracyRow& row) { return row.fault.empty(); });
}

std::string fault_of(const AccuracyRow& row, const std::vector<Precision>& precisions) {
  const std::optional<double> peer = yardstick(row);
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    const double error = row.rows[i].verdict.worst_error;
    const std::string name = to_text(precisions[i]);
    if (!row.rows[i].missing.empty()) {
      continue;
    }
    if (row.input.exact && error != 0.0) {
      return name + " is not exact";
    }
    const double limit = limit_of(precisions[i], row, error_of_fp32(row, precisions));
    if (!(error <= limit)) {
      return name + format(" is above the bound of %.1f", limit);
    }
    const bool compared = precisions[i] != Precision::fp32 && row.k >= least_compared_k && peer;
    if (compared && !(error <= std::max(worst_ratio * *peer, always_good))) {
      return name + format(" is above %.2f of cuBLAS's error", worst_ratio);
    }
  }
  return "";
}

AccuracyReport run_accuracy(const AccuracyRequest& request, Progress& progress,
                            const std::function<void(const AccuracyReport&)>& after_row) {
  const Sessions sessions = session_of(request);
  require_memory(request, sessions);
  AccuracyReport report{
      .device = sessions.front()->info(), .size = request.size, .precisions = request.precisions};
  for (const Entry& entry : sessions.front()->entries()) {
    if (!entry.is_own) {
      report.others.push_back({entry.title, entry.name});
    }
  }
  for (const InputClass& input : request.inputs) {
    for (const std::int64_t k : request.ks) {
      if (interrupted()) {
        report.interrupted = true;
        return report;
      }
      progress.show(input.name + ", K=" + std::to_string(k));
      report.rows.push_back(measure_row(request, sessions, input, k));
      report.rows.back().fault = fault_of(report.rows.back(), report.precisions);
      progress.clear();
      after_row(report);
    }
  }
  return report;
}

}  // namespace duogemm::bench
