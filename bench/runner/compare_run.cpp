#include "runner/compare_run.h"

#include <algorithm>
#include <chrono>

#include "runner/exam.h"
#include "runner/trial.h"
#include "system/reject.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

std::vector<std::unique_ptr<ReferenceLibrary>> libraries_for(const CompareConditions& conditions,
                                                             Session& session) {
  if (conditions.through != Through::device) {
    return libraries_on_host(session.info());
  }
  auto libraries = all_libraries(session.device(), session.queue());
  if (conditions.precision != Precision::fp32) {
    for (auto& library : libraries_in_other_precisions(session.device(), session.queue())) {
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

class Comparing {
 public:
  Comparing(const CompareRequest& request, Progress& progress) : request_(request), progress_(progress) {
    for (const ShapeList& list : request.lists) {
      shapes_ += list.shapes.size();
    }
    for (const ChosenDevice& chosen : request.devices) {
      Session& session = *sessions_.emplace_back(compare_session(chosen, request.conditions));
      CompareReport& report = reports_.emplace_back();
      report.conditions = request.conditions;
      report.device = session.info();
      report.gpu_before = query_gpu(report.device.pci_bus);
      for (const Entry& entry : session.entries()) {
        if (!entry.is_own) {
          report.others.push_back({entry.title, entry.name});
        }
      }
    }
    watch_.emplace(reports_.front().device.pci_bus);
    require_libraries();
    if (both_runtimes()) {
      reports_[1].others.push_back({"CUDA", "duogemm through CUDA"});
    }
  }

  void compare(const ShapeList& list, const CompareListener& listener) {
    for (const NamedShape& shape : list.shapes) {
      position_ = position();
      if (!request_.measure.stopped()) {
        compare(list.name, shape);
      }
      if (request_.measure.stopped()) {
        break;
      }
      ++done_;
      progress_.clear();
      listener.after_shape(reports_, list);
    }
    for (CompareReport& report : reports_) {
      report.interrupted = done_ < shapes_ && request_.measure.stopped();
      report.gpu_after = query_gpu(report.device.pci_bus);
      report.gpu_during = watch_->moments();
    }
  }

  const std::vector<CompareReport>& reports() const { return reports_; }

 private:
  bool both_runtimes() const { return reports_.size() == 2; }

  // Throws invalid_argument when a library was asked for that no device has.
  void require_libraries() const {
    for (const std::string& title : request_.conditions.against.value_or(std::vector<std::string>{})) {
      if (std::ranges::none_of(reports_, [&](const CompareReport& report) {
            return std::ranges::count(report.others, title, &Peer::title) > 0;
          })) {
        reject("--against " + title + ": this build has no such library for the device");
      }
    }
  }

  // Adds the shape's rows to each report, unless the run was interrupted, when not everybody has samples.
  void compare(const std::string& list, const NamedShape& shape) {
    const std::string label = list + "/" + shape.label;
    const auto show = [&](const std::string& who) { progress_.show(position_ + label + ": " + who); };
    try {
      const Trials trials = plan_trials(sessions_, shape.problem);
      const auto lacking = lacking_memory(sessions_, trials, Judge::host_bytes(shape.problem));
      if (!lacking) {
        SampledExam exam(shape.problem);
        judge(sessions_, trials, exam, request_.measure, show);
        time_in_turns(trials, request_.measure, *watch_, show);
      }
      for (std::size_t i = 0; i < trials.size() && !request_.measure.stopped(); ++i) {
        ProblemRows& rows = reports_[i].problems.emplace_back();
        rows = {list, shape, "", trials[i]->take_rows()};
        rows.skipped = lacking ? *lacking : rows.rows.front().missing;
      }
    } catch (const Error& error) {
      throw Error(error.status(), label + ": " + error.what());
    }
    if (both_runtimes() && !request_.measure.stopped()) {
      add_ours_through_cuda();
    }
  }

  // To OpenCL's last shape.
  void add_ours_through_cuda() {
    const ProblemRows& cuda = reports_[0].problems.back();
    Row row = cuda.rows.front();
    row.missing = !cuda.skipped.empty() ? cuda.skipped : is_ok(cuda) ? "" : "its result is wrong";
    reports_[1].problems.back().rows.push_back(std::move(row));
  }

  // "3 of 26, 40 s left: "
  std::string position() const {
    std::string text = std::to_string(done_ + 1) + " of " + std::to_string(shapes_);
    if (done_ > 0) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
      text +=
          ", " +
          duration_text(spent.count() / static_cast<double>(done_) * static_cast<double>(shapes_ - done_)) +
          " left";
    }
    return text + ": ";
  }

  const CompareRequest& request_;
  Progress& progress_;
  Sessions sessions_;
  std::vector<CompareReport> reports_;
  std::optional<GpuWatch> watch_;  // of the one GPU that all devices are
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t shapes_ = 0;
  std::size_t done_ = 0;
  std::string position_;
};

}  // namespace

std::unique_ptr<Session> compare_session(const ChosenDevice& chosen, const CompareConditions& conditions) {
  auto session = std::make_unique<Session>(chosen, conditions);
  session->add(
      make_own_library(conditions.through, session->runtime(), session->queue(), conditions.precision),
      {.is_own = true, .spares = Entry::Spares::lack_of_memory_too, .is_essential = true});
  for (auto& library : libraries_for(conditions, *session)) {
    if (!conditions.against || std::ranges::count(*conditions.against, library->title()) > 0) {
      session->add(std::move(library));
    }
  }
  for (const std::string& folder : conditions.kernels) {
    session->add(make_library_of_kernels(folder, session->device(), session->queue()));
  }
  return session;
}

bool is_ok(const ProblemRows& problem) {
  const Row& ours = problem.rows.front();
  return !problem.skipped.empty() || (ours.verdict.ok() && ours.repeatable);
}

std::optional<double> ratio(const ProblemRows& problem, std::size_t other) {
  return problem.skipped.empty() ? ratio(problem.rows.front(), problem.rows.at(other + 1)) : std::nullopt;
}

bool CompareReport::ok() const { return std::ranges::all_of(problems, is_ok); }

std::vector<std::string> CompareReport::warnings(double wanted_noise) const {
  std::vector<NamedSamples> samples;
  std::vector<double> slowest(others.size());  // how many times as long as ours they took at most
  for (const ProblemRows& problem : problems) {
    samples.push_back({problem.shape.label, &problem.rows.front().samples});
    for (std::size_t i = 0; i < others.size(); ++i) {
      samples.push_back({problem.shape.label + " by " + others[i].title, &problem.rows[i + 1].samples});
      slowest[i] = std::max(slowest[i], ratio(problem, i).value_or(0.0));
    }
  }
  std::vector<std::string> warnings = timing_warnings(gpu_during, samples, wanted_noise);
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (const auto slow = slow_reference_warning(others[i].title, slowest[i], "duogemm")) {
      warnings.push_back(*slow);
    }
  }
  if (interrupted) {
    warnings.emplace_back("the run was interrupted: shapes are missing");
  }
  return warnings;
}

Ratios summarize(const CompareReport& report, std::size_t other, const std::string& list) {
  Ratios ratios;
  for (const ProblemRows& problem : report.problems) {
    const std::optional<double> found = ratio(problem, other);
    if (found && (list.empty() || problem.list == list)) {
      ratios.add(problem.list + "/" + problem.shape.label, *found);
    }
  }
  return ratios;
}

std::vector<CompareReport> run_compare(const CompareRequest& request, Progress& progress,
                                       const CompareListener& listener) {
  Comparing comparing(request, progress);
  for (const ShapeList& list : request.lists) {
    if (!request.measure.stopped()) {
      comparing.compare(list, listener);
      progress.clear();
      listener.after_list(comparing.reports(), list);
    }
  }
  return comparing.reports();
}

}  // namespace duogemm::bench
