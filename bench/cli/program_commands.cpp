// The commands that measure nothing. duogemm devices: what there is to run on. duogemm report: pictures and a
// page from result files. duogemm run: starts a program with the drop-in libraries in front of its own BLAS
// and cuBLAS. duogemm man and duogemm completion: pages made from the options themselves.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "cli/commands.h"
#include "cli/options.h"
#include "duogemm/version.h"
#include "help/pages.h"
#include "output/plots.h"
#include "output/table.h"
#include "runtime/runtime.h"
#include "support/program.h"
#include "system/environment.h"
#include "system/paths.h"
#include "system/preload.h"
#include "system/reject.h"
#include "system/this_process.h"

namespace duogemm::bench {
namespace {

struct DevicesFlags {
  ResultFlags results;
  bool names = false;
};

std::string features(const DeviceInfo& info) {
  return info.read_only_loads && info.shuffle ? "ldg, shuffle"
         : info.read_only_loads               ? "ldg"
         : info.shuffle                       ? "shuffle"
                                              : "-";
}

std::string known(std::size_t number) { return number == 0 ? "-" : std::to_string(number); }

void print(const Backend& backend, const std::vector<DeviceInfo>& devices) {
  const std::string name(backend.name());
  if (devices.empty()) {
    const std::string why = backend.obstacle();
    std::printf("%s", filled(name + ": no device was found" + (why.empty() ? "" : ": " + why)).c_str());
    return;
  }
  Table table = {left("device"), left("name"), left("runtime"), left("driver"), "units",
                 "MHz",          "memory",     "local",         left("has")};
  for (const DeviceInfo& info : devices) {
    table.add_row(
        {info.backend + std::to_string(info.index), info.name, info.runtime, info.driver,
         known(info.compute_units), known(info.clock_mhz),
         info.memory_bytes == 0 ? "-" : format("%.1f GiB", 0x1p-30 * static_cast<double>(info.memory_bytes)),
         std::to_string(info.local_bytes / 1024) + " KiB", features(info)});
  }
  std::printf("%s:\n%s", name.c_str(), table.text().c_str());
  for (const DeviceInfo& info : devices) {
    if (!info.denormals) {
      std::printf("%s%zu takes denormals for zeros (it has no CL_FP_DENORM)\n", name.c_str(), info.index);
    }
  }
}

// Why the library does not multiply on it; empty where it does.
std::string refusal(const Backend& backend, const DeviceInfo& info) {
  try {
    Runtime(backend.open(info.index, {})).require_right_results();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

void print_names() {
  for (const Backend* backend : laboratory_backends()) {
    for (const DeviceInfo& info : backend->devices()) {
      std::printf("%s%zu\n", info.backend.c_str(), info.index);
    }
  }
}

int run(const DevicesFlags& flags) {
  if (flags.names) {
    print_names();
    return 0;
  }
  Json document = dated_head("duogemm.devices/1");
  document["devices"] = Json::array();
  for (const Backend* backend : laboratory_backends()) {
    const std::vector<DeviceInfo> devices = backend->devices();
    print(*backend, devices);
    for (const DeviceInfo& info : devices) {
      const std::string why = backend->name() == "opencl" ? refusal(*backend, info) : "";
      if (!why.empty()) {
        std::printf("%s%zu: %s\n", info.backend.c_str(), info.index, why.c_str());
      }
      document["devices"].push_back({{"number", info.index},
                                     {"device", to_json(info)},
                                     {"refused", why.empty() ? Json(nullptr) : Json(why)}});
    }
  }
  flags.results.write(document);
  return 0;
}

struct ReportFlags {
  std::vector<std::string> results;
  std::string folder;
};

int run(const ReportFlags& flags) {
  for (const std::string& file : flags.results) {
    if (!std::filesystem::is_regular_file(path_of(file))) {
      reject(file + (std::filesystem::exists(path_of(file)) ? ": it is not a regular file"
                                                            : ": there is no such file"));
    }
  }
  if (const std::filesystem::path folder = path_of(flags.folder);
      std::filesystem::exists(folder) && !std::filesystem::is_directory(folder)) {
    reject("-o " + flags.folder + ": that is a file; give a folder's name");
  }
  require_plotting();
  return plot_report(flags.results, flags.folder);
}

// As a shell, env(1) and nice(1) have them.
constexpr int cannot_be_started = 126;
constexpr int is_not_there = 127;

// CLI11 takes words such as "[1,2]" apart: the program gets them as they were given.
struct RunFlags {
  const Program* program;
  std::vector<std::string> words;
};

// Builds without CUDA have no library for cuBLAS.
std::vector<std::filesystem::path> libraries_to_preload() {
  const std::optional<std::filesystem::path> blas = drop_in_library(drop_in_blas);
  if (!blas) {
    throw Error(Status::unsupported,
                std::string("run: there is no ") + drop_in_blas +
                    " beside this program; build the target duogemm_blas too, or install duogemm");
  }
  std::vector<std::filesystem::path> libraries = {*blas};
  if (const std::optional<std::filesystem::path> cublas = drop_in_library(drop_in_cublas)) {
    libraries.push_back(*cublas);
  }
  return libraries;
}

// Returns only where the program cannot be started.
int run(const RunFlags& flags) {
  const std::vector<std::filesystem::path> libraries = libraries_to_preload();
  // The program has the same number: the libraries tell it from those that the program starts.
  set_environment("DUOGEMM_RUN", std::to_string(process_id()));
  std::vector<std::string> words = flags.program->given;
  if (words.front() == "--") {
    words.erase(words.begin());
  }
  const int error = become_program(words, libraries);
  std::fprintf(stderr, "duogemm: run: %s: %s\n", words.front().c_str(), std::strerror(error));
  return error == ENOENT ? is_not_there : cannot_be_started;
}

struct PageFlags {
  const CLI::App* app;
  std::string shell;  // empty for the page
};

int run(const PageFlags& flags) {
  const std::string page =
      flags.shell.empty() ? man_page(*flags.app, DUOGEMM_VERSION) : completion(*flags.app, flags.shell);
  std::fputs(page.c_str(), stdout);
  return 0;
}

}  // namespace

void add_devices_command(Program& program) {
  auto [command, flags] =
      add_command<DevicesFlags>(program, "devices", "List the devices of every runtime in this build", run);
  flags.results.add_to(command);
  command.add_flag("--names", flags.names, "Print their names alone, as --device takes them");
}

void add_report_command(Program& program) {
  auto [command, flags] = add_command<ReportFlags>(
      program, "report", "Draw result files: the climb, pictures, and one page that needs no network", run);
  command
      .add_option("results", flags.results,
                  "Result files of ladder, compare, sweep, explain, replay and accuracy")
      ->required();
  command.add_option("-o,--output", flags.folder, "The folder for index.html and the pictures")->required();
}

void add_run_command(Program& program) {
  auto [command, flags] = add_command<RunFlags>(
      program, "run",
      "Start a program with duogemm's SGEMM in place of its BLAS's and, where the build has CUDA, of "
      "cuBLAS's, as in `duogemm run -- python3 x.py`",
      run);
  flags.program = &program;
  command
      .add_option(
          "program", flags.words,
          "The program and its arguments, after `--`. Its exit status is that of this command, which is "
          "127 where there is no such program and 126 where it cannot be started")
      ->required();
}

void add_completion_command(Program& program) {
  auto [command, flags] = add_command<PageFlags>(
      program, "completion", "Print what a shell completes command lines of this program by", run);
  flags.app = &program.app;
  command.add_option("shell", flags.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

void add_man_command(Program& program) {
  auto [command, flags] = add_command<PageFlags>(
      program, "man", "Print this program's page for man, as in `duogemm man | man -l -`", run);
  flags.app = &program.app;
}

}  // namespace duogemm::bench
