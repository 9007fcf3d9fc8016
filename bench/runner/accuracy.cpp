#include <algorithm>
#include <cmath>
#include <limits>

#include "check/oracle.h"
#include "problem/precision.h"
#include "runner/runs.h"
#include "support/format.h"
#include "support/interrupt.h"

namespace duogemm::bench {
namespace {

// Multiply-adds that computing elements anew may take, and how many rows and columns it takes at least.
constexpr double reference_work = 1 << 26;
constexpr std::int64_t fewest_lines = 32;

// A precision other than FP32 is a permission: the library may have made no use of it.
bool multiplied_in_fp32(const Row& row) {
  const KernelSpec* const kernel = row.setting.spec;
  return kernel != nullptr && kernel->family != nullptr && kernel->family->multiplies_in(Precision::fp32);
}

// These rows, and the columns of the same numbers: as many as may be, at equal distances, the first and the
// last among them.
std::vector<std::int64_t> lines_of(const Problem& problem) {
  const auto affordable =
      static_cast<std::int64_t>(std::sqrt(reference_work / static_cast<double>(problem.k)));
  const std::int64_t count = std::min(problem.m, std::max(fewest_lines, affordable));
  std::vector<std::int64_t> lines;
  for (std::int64_t i = 0; i < count; ++i) {
    lines.push_back(count == 1 ? 0 : i * (problem.m - 1) / (count - 1));
  }
  return lines;
}

// Those elements are computed anew where the rows cross the columns.
class ErrorExam final : public Exam {
 public:
  ErrorExam(const InputClass& input, const Problem& problem, bool timed)
      : lines_(lines_of(problem)),
        host_{problem,
              make_a(input, problem.m, problem.k),
              make_b(input, problem.k, problem.n),
              std::vector<float>(static_cast<std::size_t>(problem.m * problem.n),
                                 std::numeric_limits<float>::quiet_NaN()),
              {},
              {},
              {}},
        oracle_(Problem::packed(count(), count(), problem.k), rows_of_a(), columns_of_b(), {}),
        timed_(timed) {}

  std::size_t elements() const { return lines_.size() * lines_.size(); }

  std::unique_ptr<GuardedOperands> operands(std::size_t sets, Device& device, Queue& queue) const override {
    return std::make_unique<GuardedOperands>(host_, device, queue, Guards::bands, sets);
  }

  bool judge(const Entry&, const std::function<void()>& multiply, GuardedOperands& operands, Queue& queue,
             Row& row) override {
    operands.restore_c(queue);
    multiply();
    std::vector<float> result(host_.c.size());
    queue.read(*place_of(operands.operands(), operand_c).buffer, result.data(),
               result.size() * sizeof(float));
    row.mean_error = 0.0;
    for (std::int64_t col = 0; col < count(); ++col) {
      for (std::int64_t at = 0; at < count(); ++at) {
        const double units = oracle_.units(at, col, result[index(line(col) * host_.problem.m + line(at))]);
        row.verdict.worst_error = std::max(row.verdict.worst_error, units);
        *row.mean_error += units / static_cast<double>(elements());
      }
    }
    return timed_;
  }

 private:
  static std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }
  std::int64_t count() const { return static_cast<std::int64_t>(lines_.size()); }
  std::int64_t line(std::int64_t i) const { return lines_[index(i)]; }

  std::vector<float> rows_of_a() const {
    std::vector<float> chosen;
    for (std::int64_t p = 0; p < host_.problem.k; ++p) {
      for (const std::int64_t row : lines_) {
        chosen.push_back(host_.a[index(p * host_.problem.m + row)]);
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
  bool timed_;
};

Sessions session_of(const AccuracyRequest& request) {
  Sessions sessions;
  Session& session = sessions.emplace_back(request.device, Conditions{});
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
  for (auto& library : libraries_in_other_precisions(session.device(), session.queue(),
                                                     [](const std::string&) { return true; })) {
    session.add(std::move(library));
  }
  return sessions;
}

AccuracyRow measure_row(const AccuracyRequest& request, Sessions& sessions, const InputClass& input,
                        std::int64_t k) {
  const auto show = [](const std::string&) {};
  const Problem problem = Problem::packed(request.size, request.size, k);
  Trial trial(sessions, problem);
  ErrorExam exam(input, problem, request.timed);
  trial.judge(exam, show);
  if (request.timed) {
    GpuWatch nobody("");
    trial.time({.noise = 0.005, .seconds = 0.2, .stop = &interrupted()}, nobody, show);
  }
  return {.input = input,
          .k = k,
          .elements = exam.elements(),
          .bound = 2.0 * std::sqrt(static_cast<double>(k)) + 4.0,
          .rows = trial.take_rows()};
}

}  // namespace

bool AccuracyReport::ok() const {
  return std::ranges::all_of(rows, [](const AccuracyRow& row) { return row.fault.empty(); });
}

std::string fault_of(const AccuracyRow& row, const std::vector<Precision>& precisions) {
  const auto cublas = std::ranges::find(row.rows, "cuBLAS", &Row::title);
  const bool has_peer = cublas != row.rows.end() && cublas->missing.empty();
  const double peer = has_peer ? cublas->verdict.worst_error : 0.0;
  // Where all roundings of a sum go the same way, a chain of FP32 has more than the bound, but never more
  // than this; other precisions may have what FP32, ours or cuBLAS's, has there.
  const double chain = static_cast<double>(row.k) + 3.0;
  double of_fp32 = peer;
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    of_fp32 = precisions[i] == Precision::fp32 ? std::max(of_fp32, row.rows[i].verdict.worst_error) : of_fp32;
  }
  for (std::size_t i = 0; i < precisions.size(); ++i) {
    const double error = row.rows[i].verdict.worst_error;
    const std::string name = to_text(precisions[i]);
    const bool is_fp32 = precisions[i] == Precision::fp32 || multiplied_in_fp32(row.rows[i]);
    const double limit = is_fp32 ? chain : std::max(row.bound, std::min(of_fp32, chain));
    if (!row.rows[i].missing.empty()) {
      continue;
    }
    if (row.input.exact && error != 0.0) {
      return name + " is not exact";
    }
    if (!(error <= limit)) {
      return name + format(" is above the bound of %.1f", limit);
    }
    const bool compared = !is_fp32 && row.k >= least_compared_k && has_peer;
    if (compared && !(error <= std::max(worst_ratio * peer, always_good))) {
      return name + format(" is above %.2f of cuBLAS's error", worst_ratio);
    }
  }
  return "";
}

AccuracyReport run_accuracy(const AccuracyRequest& request, Progress& progress,
                            const std::function<void(const AccuracyReport&)>& after_row) {
  Sessions sessions = session_of(request);
  // The largest product decides. On the host there are its matrices, and as much again of what is computed
  // anew.
  const std::int64_t longest = *std::ranges::max_element(request.ks);
  const Problem largest = Problem::packed(request.size, request.size, longest);
  const double host_bytes = 3.0 * guarded_need(largest, sessions.front().info()).device;
  if (const auto lacking = Trial(sessions, largest).lacking_memory(host_bytes)) {
    throw Error(Status::out_of_memory, "K=" + std::to_string(longest) + ": " + *lacking);
  }
  AccuracyReport report{.device = sessions.front().info(),
                        .size = request.size,
                        .precisions = request.precisions,
                        .others = sessions.front().peers()};
  Parts parts(request.inputs.size() * request.ks.size());
  for (const InputClass& input : request.inputs) {
    for (const std::int64_t k : request.ks) {
      if (interrupted()) {
        return report;
      }
      progress.show(parts.next() + input.name + ", K=" + std::to_string(k));
      report.rows.push_back(measure_row(request, sessions, input, k));
      report.rows.back().fault = fault_of(report.rows.back(), report.precisions);
      progress.clear();
      after_row(report);
    }
  }
  return report;
}

}  // namespace duogemm::bench
