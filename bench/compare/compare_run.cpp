#include "compare/compare_run.h"

#include <algorithm>
#include <chrono>

#include "compare/match.h"

namespace duogemm::bench {
namespace {

class Comparing {
 public:
  Comparing(const CompareRequest& request, Progress& progress) : request_(request), progress_(progress) {
    for (const ShapeList& list : request.lists) {
      shapes_ += list.shapes.size();
    }
    for (const ChosenDevice& chosen : request.devices) {
      arenas_.push_back(std::make_unique<Arena>(chosen, request.conditions, request.devices.size()));
      CompareReport& report = reports_.emplace_back();
      report.device = arenas_.back()->info();
      report.through = request.conditions.through;
      report.device_memory = request.conditions.device_memory;
      report.callers = request.conditions.callers;
      report.precision = request.conditions.precision;
      for (const auto& library : arenas_.back()->libraries()) {
        report.others.push_back({library->title(), library->name()});
      }
      report.gpu_before = query_gpu(report.device.pci_bus);
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
      if (std::none_of(reports_.begin(), reports_.end(), [&](const CompareReport& report) {
            return std::any_of(report.others.begin(), report.others.end(),
                               [&](const Other& other) { return other.title == title; });
          })) {
        throw Error(Status::invalid_argument,
                    "--against " + title + ": this build has no such library for the device");
      }
    }
  }

  void compare(const std::string& list, const NamedShape& shape) {
    std::vector<std::unique_ptr<Match>> matches;
    std::vector<Contender> contenders;
    for (const auto& arena : arenas_) {
      matches.push_back(std::make_unique<Match>(*arena, list, shape, [&](const std::string& who) {
        show(arena->info().backend + ": " + list + "/" + shape.label + ": judging " + who);
      }));
      matches.back()->add_contenders(contenders);
    }
    std::vector<Samples> samples;
    watch_->during(
        [&] { samples = measure(contenders, request_.measure, [&](const std::string& who) { show(who); }); });
    if (request_.measure.stopped()) {
      return;  // not everybody has samples
    }
    auto next = samples.begin();
    for (std::size_t i = 0; i < matches.size(); ++i) {
      matches[i]->take_samples(next);
      reports_[i].rows.push_back(matches[i]->take_row());
    }
    if (both_runtimes()) {
      add_ours_through_cuda();
    }
  }

  // To OpenCL's last row.
  void add_ours_through_cuda() {
    const CompareRow& cuda = reports_[0].rows.back();
    OtherTime time;
    time.unavailable = !cuda.skipped.empty() ? cuda.skipped : cuda.ok() ? "" : "its result is wrong";
    time.samples = cuda.ours;
    time.worst_error = cuda.verdict.worst_error;
    reports_[1].rows.back().others.push_back(std::move(time));
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

  void show(const std::string& what) { progress_.show(position_ + what); }

  const CompareRequest& request_;
  Progress& progress_;
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::vector<CompareReport> reports_;
  std::optional<GpuWatch> watch_;  // of the one GPU that all devices are
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::size_t shapes_ = 0;
  std::size_t done_ = 0;
  std::string position_;
};

}  // namespace

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
