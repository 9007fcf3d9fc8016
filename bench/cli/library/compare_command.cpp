// duogemm compare: the library's own SGEMM versus the others, on lists of shapes.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cli/commands.h"
#include "cli/options.h"
#include "device/memory_limit.h"
#include "output/reports.h"
#include "support/interrupt.h"
#include "system/reject.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

struct CompareFlags {
  DeviceFlags device;
  SizeFlags size;
  std::vector<std::string> shapes;
  std::optional<std::string> ops;
  std::optional<std::int64_t> batch;
  std::vector<std::string> against;
  std::string through = name_of(Through::device);
  std::string device_memory;
  CompareConditions conditions;
  LevelFlag level;
  PrecisionFlag precision;
  TimingFlags timing{.noise_percent = 0.5, .seconds = 0.1};
  ResultFlags results;
};

std::vector<ShapeList> one_shape(const CompareFlags& flags) {
  const Shape shape = flags.size.shape();
  const std::string ops = flags.ops.value_or("NN");
  const Problem problem = packed_problem(shape.m, shape.n, shape.k, ops, flags.batch.value_or(1));
  return {{"given",
           {{"m" + std::to_string(shape.m) + "_n" + std::to_string(shape.n) + "_k" + std::to_string(shape.k) +
                 "_" + ops,
             problem}}}};
}

std::vector<ShapeList> load_lists(std::vector<std::string> names) {
  if (names == std::vector<std::string>{"all"}) {
    names = shipped_shapes();
  }
  std::vector<ShapeList> lists;
  for (const std::string& name : names) {
    ShapeList list = load_shapes(name);
    if (std::any_of(lists.begin(), lists.end(),
                    [&](const ShapeList& other) { return other.name == list.name; })) {
      reject("--shapes " + name + ": there is a list of that name already");
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

// Empty when nothing was said.
std::vector<ShapeList> choose_lists(const CompareFlags& flags) {
  const bool sizes = flags.size.given();
  if (sizes && !flags.shapes.empty()) {
    reject("give either --shapes or sizes");
  }
  if (!sizes && (flags.ops || flags.batch)) {
    reject("--ops and --batch go with --size or -m, -n and -k; a list has its own");
  }
  return sizes ? one_shape(flags) : load_lists(flags.shapes);
}

// Nine samples, unless the contender is very slow. Samples are long where caches are cleared before each of
// them, and on a CPU, which others use too.
MeasureOptions measure_options(const CompareFlags& flags, const DeviceInfo& device) {
  MeasureOptions options = flags.timing.options();
  options.min_samples = 9;
  options.patience = 20.0 * flags.timing.seconds;
  options.sample_seconds = device.kind == DeviceKind::cpu ? 2e-2 : flags.timing.cold ? 1e-2 : 2e-3;
  return options;
}

Through through_of(const CompareFlags& flags) {
  for (const Through through : {Through::host, Through::blas}) {
    if (flags.through == name_of(through)) {
      return through;
    }
  }
  return Through::device;
}

// Refuses what does not go together.
void require_harmony(const CompareFlags& flags, Through through, const std::vector<ChosenDevice>& devices) {
  const bool on_device = through == Through::device;
  const bool blas = through == Through::blas;
  const std::pair<bool, std::string> faults[] = {
      {!on_device && (flags.conditions.graph || flags.timing.cold),
       "--through " + flags.through + ": --graph and --cold go with --through device"},
      {blas && flags.level.level() != Reproducibility::run_to_run,
       "--through blas: BLAS has no --level; it is run_to_run"},
      {blas && devices.size() > 1,
       "--through blas: the drop-in library has one device in a process; --backend all has two"},
      {!on_device && !flags.conditions.kernels.empty(), "--kernels goes with --through device"},
      {on_device && flags.conditions.callers > 1, "--callers goes with --through host or blas"},
      {on_device && !flags.device_memory.empty(),
       "--device-memory goes with --through host or blas, which have operands copied to the device"},
      {flags.conditions.graph && devices.front().backend->name() != "cuda", "--graph: only cuda has graphs"}};
  for (const auto& [is_there, why] : faults) {
    if (is_there) {
      reject(why);
    }
  }
}

// Ours goes by the environment, whichever way it is called.
std::optional<std::size_t> limit_device_memory(const CompareFlags& flags, Through through) {
  if (!flags.device_memory.empty()) {
    parse_bytes(flags.device_memory, "--device-memory");
    setenv("DUOGEMM_DEVICE_MEMORY", flags.device_memory.c_str(), 1);
  }
  return through == Through::device ? std::nullopt : device_memory_limit();
}

// Which are compiled shape by shape: what is no folder of kernels is found now.
void check_kernels(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    for (const char* part : {"kernels", "compat"}) {
      if (!std::filesystem::is_directory(std::filesystem::path(folder) / part)) {
        reject("--kernels " + folder + ": no folder with kernels/ and compat/");
      }
    }
    if (std::ranges::count(folders, folder) > 1) {
      reject("--kernels " + folder + ": is there already");
    }
  }
}

CompareRequest make_request(const CompareFlags& flags) {
  CompareRequest request{.lists = choose_lists(flags),
                         .devices = flags.device.choose(),
                         .conditions = flags.conditions,
                         .level = flags.level.name};
  const DeviceInfo device = request.devices.front().info();
  if (request.lists.empty()) {
    request.lists = {load_shapes(device.kind == DeviceKind::cpu ? "cpu" : "squares")};
  }
  for (ShapeList& list : request.lists) {
    for (NamedShape& shape : list.shapes) {
      shape.problem.level = flags.level.level();
      shape.problem.precision = flags.precision.precision();
      validate(shape.problem);
    }
  }
  CompareConditions& conditions = request.conditions;
  conditions.precision = flags.precision.precision();
  conditions.cold = flags.timing.cold;
  if (!flags.against.empty()) {
    conditions.against = flags.against;
    std::erase(*conditions.against, "none");
  }
  conditions.through = through_of(flags);
  require_harmony(flags, conditions.through, request.devices);
  check_kernels(conditions.kernels);
  conditions.device_memory = limit_device_memory(flags, conditions.through);
  request.measure = measure_options(flags, device);
  return request;
}

// One block of text for each device; where there are two, each begins with the name of its runtime.
void print(const std::vector<CompareReport>& reports,
           const std::function<std::string(const CompareReport&)>& text) {
  for (const CompareReport& report : reports) {
    const std::string head = reports.size() > 1 ? report.device.backend + ":\n" : "";
    if (const std::string block = text(report); !block.empty()) {
      std::printf("%s%s\n", head.c_str(), block.c_str());
    }
  }
  std::fflush(stdout);
}

// Throws when the one shape that the user gave was run nowhere.
void require_given_shape_ran(const CompareRequest& request, const std::vector<CompareReport>& reports) {
  const bool one = request.lists.size() == 1 && request.lists.front().shapes.size() == 1;
  const auto was_skipped = [](const CompareReport& report) {
    return !report.problems.front().skipped.empty();
  };
  if (one && std::ranges::all_of(reports, was_skipped)) {
    const ProblemRows& only = reports.front().problems.front();
    throw Error(Status::out_of_memory, only.shape.label + " " + only.skipped);
  }
}

// Prints lists: of one device row by row, of two, whose tables stand one below the other, when a list is
// done.
class Printer {
 public:
  explicit Printer(const CompareRequest& request) : request_(request) {}

  void after_shape(const std::vector<CompareReport>& reports, const ShapeList& list) {
    require_given_shape_ran(request_, reports);
    if (reports.size() > 1) {
      return;
    }
    const CompareReport& report = reports.front();
    if (!table_) {
      begin(reports);
      table_.emplace(report, list);
      std::printf("%s", table_->head().c_str());
    }
    std::printf("%s", table_->row(report.problems.back()).c_str());
    std::fflush(stdout);
  }

  void after_list(const std::vector<CompareReport>& reports, const ShapeList& list) {
    if (reports.size() > 1) {
      begin(reports);
      print(reports, [&](const CompareReport& report) { return list_text(report, list.name); });
    } else if (table_) {
      std::printf("\n");
      table_.reset();
    }
  }

 private:
  void begin(const std::vector<CompareReport>& reports) {
    if (!begun_) {
      print(reports, head_text);
    }
    begun_ = true;
  }

  const CompareRequest& request_;
  bool begun_ = false;
  std::optional<ListTable> table_;  // of the list whose rows come
};

int run(const CompareFlags& flags) {
  flags.results.require();
  const CompareRequest request = make_request(flags);
  note_interrupts();
  Progress progress;
  Printer printer(request);
  const auto after_shape = [&](const auto& reports, const ShapeList& list) {
    printer.after_shape(reports, list);
  };
  const auto after_list = [&](const auto& reports, const ShapeList& list) {
    printer.after_list(reports, list);
    if (!reports.front().problems.empty()) {
      flags.results.write(compare_json(reports, request));
    }
  };
  const std::vector<CompareReport> reports = run_compare(request, progress, {after_shape, after_list});
  if (!reports.front().problems.empty()) {
    print(reports, summary_text);
    print(reports,
          [&](const CompareReport& report) { return warning_lines(report.warnings(request.measure.noise)); });
  }
  const bool ok = std::ranges::all_of(reports, [](const CompareReport& r) { return r.ok(); });
  return status_unless_interrupted(ok ? 0 : 1);
}

void add_options(CLI::App& command, CompareFlags& flags) {
  command
      .add_option("--shapes", flags.shapes,
                  "Lists: files, or names of those that come with the program, or 'all' of these. Default: "
                  "squares, on a CPU cpu")
      ->delimiter(',');
  flags.size.add_to(command);
  command.add_option("--ops", flags.ops, "Which of A and B are stored transposed: NN, NT, TN or TT")
      ->check(CLI::IsMember({"NN", "NT", "TN", "TT"}));
  command.add_option("--batch", flags.batch, "How many multiplications at once")
      ->check(number_in(std::int64_t{1}, largest_size));
  flags.device.add_to(command, true);
  command.add_flag("--graph", flags.conditions.graph,
                   "CUDA: the executions within a sample are one graph, so that launching takes no time");
  flags.level.add_to(command);
  flags.precision.add_to(command);
  command
      .add_option("--through", flags.through,
                  "How ours is called: 'device', on buffers and a queue; 'host', on plain arrays; 'blas', on "
                  "plain arrays through the drop-in library")
      ->check(CLI::IsMember({"device", "host", "blas"}))
      ->capture_default_str();
  command.add_option(
      "--device-memory", flags.device_memory,
      "With --through host or blas: the most device memory that ours may take, such as 512M or "
      "4G. Default: DUOGEMM_DEVICE_MEMORY, or most of it");
  command
      .add_option(
          "--callers", flags.conditions.callers,
          "With --through host or blas: how many threads call at once, each with operands of its own; "
          "times are from one result to the next, whoever's")
      ->check(number_in(std::size_t{1}, std::size_t{256}))
      ->capture_default_str();
  command.add_option("--against", flags.against, "Libraries, or 'none'. Default: all there are")
      ->delimiter(',')
      ->transform(CLI::IsMember({"cuBLAS", "cublasLt", "OpenBLAS", "CLBlast", "cublasXt", "cuBLAS-TF32",
                                 "cuBLAS-FP16", "cuBLAS-BF16x9", "none"},
                                CLI::ignore_case));
  command
      .add_option(
          "--kernels", flags.conditions.kernels,
          "Folders with kernels/ and compat/: ours takes part with these kernels too, by the same plans")
      ->delimiter(',');
  flags.timing.add_to(command);
  flags.results.add_to(command);
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  add_command<CompareFlags>(app, action, "compare",
                            "Time this library's multiplication versus others, on lists of shapes",
                            add_options, run);
}

}  // namespace duogemm::bench
