#include <algorithm>
#include <iterator>

#include "runner/runs.h"
#include "system/reject.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

ReferenceLibraries libraries_for(const CompareConditions& conditions, Session& session) {
  const auto wanted = [&](const std::string& title) {
    return !conditions.against || std::ranges::count(*conditions.against, title) > 0;
  };
  if (conditions.through != Through::device) {
    return libraries_on_host(session.info(), wanted);
  }
  auto libraries = all_libraries(session.device(), session.queue(), wanted);
  if (conditions.precision != Precision::fp32) {
    std::ranges::move(libraries_in_other_precisions(session.device(), session.queue(), wanted),
                      std::back_inserter(libraries));
  }
  return libraries;
}

// Throws invalid_argument when a library was asked for that there is not, or not for these devices.
void require_libraries(const std::vector<std::string>& titles, const std::vector<CompareReport>& reports) {
  for (const std::string& title : titles) {
    if (std::ranges::none_of(reports, [&](const CompareReport& report) {
          return std::ranges::count(report.others, title, &Peer::title) > 0;
        })) {
      const std::string why = absence_of(title);
      reject("--against " + title + ": " + (why.empty() ? "it does not work on the device" : why));
    }
  }
}

std::vector<CompareReport> empty_reports(const CompareRequest& request, Sessions& sessions) {
  std::vector<CompareReport> reports;
  for (const ChosenDevice& chosen : request.devices) {
    Session& session = add_compare_session(sessions, chosen, request.conditions);
    CompareReport& report = reports.emplace_back();
    report.conditions = request.conditions;
    report.device = session.info();
    report.gpu_before = query_gpu(report.device.pci_bus);
    report.others = session.peers();
  }
  require_libraries(request.conditions.against.value_or(std::vector<std::string>{}), reports);
  if (reports.size() == 2) {
    reports[1].others.push_back({"CUDA", "duogemm through CUDA"});
  }
  return reports;
}

// Adds the shape's rows to each report, unless the run was interrupted, when not everybody has samples.
void compare(const CompareRequest& request, Sessions& sessions, const std::string& list,
             const NamedShape& shape, GpuWatch& watch, const ShowWho& show,
             std::vector<CompareReport>& reports) {
  Trial trial(sessions, shape.problem);
  const auto lacking = trial.lacking_memory(Judge::host_bytes(shape.problem));
  if (!lacking) {
    const auto exam = sampled_exam(shape.problem);
    trial.judge(*exam, show, request.measure.stop);
    trial.time(request.measure, watch, show);
  }
  if (request.measure.stopped()) {
    return;
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    ProblemRows rows{list, shape, "", trial.take_rows(i)};
    rows.skipped = lacking ? *lacking : rows.rows.front().missing;
    if (i == 1) {  // OpenCL's has ours through CUDA
      const ProblemRows& cuda = reports[0].problems.back();
      Row& row = rows.rows.emplace_back(cuda.rows.front());
      row.missing = !cuda.skipped.empty() ? cuda.skipped : is_ok(cuda) ? "" : "its result is wrong";
    }
    reports[i].problems.push_back(std::move(rows));
  }
}

}  // namespace

Session& add_compare_session(Sessions& sessions, const ChosenDevice& chosen,
                             const CompareConditions& conditions) {
  Session& session = sessions.emplace_back(chosen, conditions);
  session.add(make_own_library(conditions.through, session.runtime(), session.queue(), conditions.precision),
              {.is_own = true, .spares = Entry::Spares::lack_of_memory_too, .is_essential = true});
  for (auto& library : libraries_for(conditions, session)) {
    session.add(std::move(library));
  }
  for (const std::string& folder : conditions.kernels) {
    session.add(make_library_of_kernels(folder, session.device(), session.queue()));
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
    if (const auto weak = weak_kernels_warning(others[i].title, others[i].name)) {
      warnings.push_back(*weak);
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
  Sessions sessions;
  std::vector<CompareReport> reports = empty_reports(request, sessions);
  GpuWatch watch(reports.front().device.pci_bus);  // of the one GPU that all devices are
  std::size_t shapes = 0;
  for (const ShapeList& list : request.lists) {
    shapes += list.shapes.size();
  }
  Parts parts(shapes);
  std::size_t done = 0;
  for (const ShapeList& list : request.lists) {
    if (request.measure.stopped()) {
      break;
    }
    for (const NamedShape& shape : list.shapes) {
      if (request.measure.stopped()) {
        break;
      }
      const std::string label = list.name + "/" + shape.label;
      const std::string where = parts.next() + label + ": ";
      try {
        compare(
            request, sessions, list.name, shape, watch,
            [&](const std::string& who) { progress.show(where + who); }, reports);
      } catch (const Error& error) {
        throw Error(error.status(), label + ": " + error.what());
      }
      if (request.measure.stopped()) {
        break;
      }
      ++done;
      progress.clear();
      listener.after_shape(reports, list);
    }
    for (CompareReport& report : reports) {
      report.interrupted = done < shapes && request.measure.stopped();
      report.gpu_after = query_gpu(report.device.pci_bus);
      report.gpu_during = watch.moments();
    }
    progress.clear();
    listener.after_list(reports, list);
  }
  return reports;
}

}  // namespace duogemm::bench
