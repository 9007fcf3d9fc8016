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
#include "system/environment.h"
#include "system/paths.h"
#include "system/reject.h"
#include "timing/timing_warnings.h"

namespace duogemm::bench {
namespace {

struct CompareFlags {
  DeviceFlags device;
  ProblemFlags problem;
  std::vector<std::string> shapes;
  std::vector<std::string> against;
  std::string device_memory;
  CompareConditions conditions;
  TimingFlags timing{.noise_percent = 0.5, .seconds = 0.1};
  ResultFlags results;
};

std::vector<ShapeList> load_lists(const std::vector<std::string>& names) {
  std::vector<ShapeList> lists;
  for (const std::string& name : names) {
    ShapeList list = load_shapes(name);
    if (std::ranges::count(lists, list.name, &ShapeList::name) > 0) {
      reject("--shapes " + name + ": there is a list of that name already");
    }
    lists.push_back(std::move(list));
  }
  return lists;
}

// Empty when nothing was said.
std::vector<ShapeList> choose_lists(const CompareFlags& flags) {
  const ProblemFlags& given = flags.problem;
  if (!given.size.given()) {
    if (given.ops || given.batch) {
      reject("--ops and --batch go with --size or -m, -n and -k; a list has its own");
    }
    return load_lists(flags.shapes == std::vector<std::string>{"all"} ? shipped_shapes() : flags.shapes);
  }
  if (!flags.shapes.empty()) {
    reject("give either --shapes or sizes");
  }
  const Problem problem = given.problem();
  const std::string label = "m" + std::to_string(problem.m) + "_n" + std::to_string(problem.n) + "_k" +
                            std::to_string(problem.k) + "_" + ops_of(problem);
  return {{"given", {{label, problem}}}};
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

// Refuses what does not go together.
void require_harmony(const CompareFlags& flags, const std::vector<ChosenDevice>& devices) {
  const Through through = flags.conditions.through;
  const bool on_device = through == Through::device;
  const bool blas = through == Through::blas;
  const std::pair<bool, std::string> faults[] = {
      {!on_device && (flags.conditions.graph || flags.timing.cold),
       std::string("--through ") + name_of(through) + ": --graph and --cold go with --through device"},
      {blas && flags.problem.level != "run_to_run", "--through blas: BLAS has no --level; it is run_to_run"},
      {blas && devices.size() > 1,
       "--through blas: the drop-in library has one device in a process; --backend all has two"},
      {!on_device && !flags.conditions.kernels.empty(), "--kernel-dir goes with --through device"},
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

// Which are compiled shape by shape: what is no folder of kernels is found now.
void check_kernels(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const std::filesystem::path path = path_of(folder);
    if (!std::filesystem::is_directory(path / "kernels") || !std::filesystem::is_directory(path / "compat")) {
      reject("--kernel-dir " + folder + ": no folder with kernels/ and compat/");
    }
    if (std::ranges::count(folders, folder) > 1) {
      reject("--kernel-dir " + folder + ": is there already");
    }
  }
}

CompareRequest make_request(const CompareFlags& flags) {
  CompareRequest request{.lists = choose_lists(flags),
                         .devices = flags.device.choose(),
                         .conditions = flags.conditions,
                         .level = flags.problem.level};
  const DeviceInfo device = request.devices.front().info();
  if (request.lists.empty()) {
    request.lists = {load_shapes(device.kind == DeviceKind::cpu ? "cpu" : "squares")};
  }
  for (ShapeList& list : request.lists) {
    for (NamedShape& shape : list.shapes) {
      flags.problem.permit(shape.problem);
    }
  }
  CompareConditions& conditions = request.conditions;
  conditions.precision = flags.problem.precision.value_or(Precision::fp32);
  conditions.cold = flags.timing.cold;
  if (!flags.against.empty()) {
    conditions.against = flags.against;
    std::erase(*conditions.against, "none");
  }
  require_harmony(flags, request.devices);
  check_kernels(conditions.kernels);
  if (!flags.device_memory.empty()) {
    parse_bytes(flags.device_memory, "--device-memory");
    set_environment("DUOGEMM_DEVICE_MEMORY", flags.device_memory);  // which ours goes by in every way
  }
  if (conditions.through != Through::device) {
    conditions.device_memory = device_memory_limit();
  }
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

// Lists of one device are printed row by row, those of two, whose tables stand one below the other, when a
// list is done.
int run(const CompareFlags& flags) {
  const CompareRequest request = make_request(flags);
  note_interrupts();
  Progress progress;
  bool begun = false;
  std::optional<ListTable> table;  // of the list whose rows come
  const auto begin = [&](const std::vector<CompareReport>& reports) {
    if (!std::exchange(begun, true)) {
      print(reports, head_text);
    }
  };
  const auto after_shape = [&](const std::vector<CompareReport>& reports, const ShapeList& list) {
    require_given_shape_ran(request, reports);
    if (reports.size() > 1) {
      return;
    }
    const CompareReport& report = reports.front();
    if (!table) {
      begin(reports);
      std::printf("%s", table.emplace(report, list).head().c_str());
    }
    std::printf("%s", table->row(report.problems.back()).c_str());
    std::fflush(stdout);
  };
  const auto after_list = [&](const std::vector<CompareReport>& reports, const ShapeList& list) {
    if (reports.size() > 1) {
      begin(reports);
      print(reports, [&](const CompareReport& report) { return list_text(report, list.name); });
    } else if (table) {
      std::printf("%s\n", table->foot().c_str());
      table.reset();
    }
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
  const bool ok = std::ranges::all_of(reports, &CompareReport::ok);
  return status_unless_interrupted(ok ? 0 : 1);
}

}  // namespace

void add_compare_command(Program& program) {
  auto [command, flags] = add_command<CompareFlags>(
      program, "compare", "Time this library's multiplication versus others, on lists of shapes", run);
  command
      .add_option("--shapes", flags.shapes,
                  "Lists: files, or names of those that come with the program, or 'all' of these. Default: "
                  "squares, on a CPU cpu")
      ->delimiter(',');
  flags.problem.add_to(command);
  flags.device.add_to(command, true);
  command.add_flag("--graph", flags.conditions.graph,
                   "CUDA: the executions within a sample are one graph, so that launching takes no time");
  add_choice(command, "--through", flags.conditions.through,
             {{"device", Through::device}, {"host", Through::host}, {"blas", Through::blas}},
             "How ours is called: 'device', on buffers and a queue; 'host', on plain arrays; 'blas', on "
             "plain arrays through the drop-in library")
      ->default_str(name_of(Through::device));
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
  command
      .add_option("--against", flags.against,
                  "Libraries, or 'none'. Default: all there are. GEMMul8 is libgemmul8.so, and takes "
                  "GEMMUL8_NUM_MOD_S moduli")
      ->delimiter(',')
      ->transform(one_of_libraries({"cuBLAS", "cublasLt", "CLBlast", "cublasXt", "cuBLAS-TF32", "cuBLAS-FP16",
                                    "cuBLAS-BF16x9", "GEMMul8"}));
  command
      .add_option(
          "--kernel-dir", flags.conditions.kernels,
          "Folders with kernels/ and compat/: ours takes part with these kernels too, by the same plans")
      ->delimiter(',');
  flags.timing.add_to(command);
  flags.results.add_to(command);
}

}  // namespace duogemm::bench
