#include "cli/command_line.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <iterator>
#include <new>
#include <sstream>

#include "cli/commands.h"
#include "device/backend.h"
#include "duogemm/version.h"
#include "machine/gpu_watch.h"
#include "output/files.h"
#include "output/table.h"
#include "support/device_choice.h"
#include "support/format.h"
#include "support/nearest.h"
#include "support/pattern.h"
#include "support/program.h"
#include "system/environment.h"
#include "system/reject.h"
#include "system/terminal.h"

namespace duogemm::bench {
namespace {

constexpr int bad_input = 2;
constexpr int failure = 1;

int complain(const std::string& message, int status) {
  std::fprintf(stderr, "duogemm: %s\n", message.c_str());
  return status;
}

// A driver that fails is worth a line in place of its version.
Versions versions_of(const Backend& backend) {
  try {
    return backend.versions();
  } catch (const Error& error) {
    return {{std::string(backend.name()), error.what()}};
  }
}

// The first GPU that the management library knows tells it; empty where there is none.
std::string nvidia_driver() {
  for (const Backend* backend : backends()) {
    try {
      for (const DeviceInfo& device : backend->devices()) {
        if (const auto state = query_gpu(device.pci_bus)) {
          return state->driver;
        }
      }
    } catch (const Error&) {
      continue;  // versions_of() has said why
    }
  }
  return {};
}

// Enough for a report of a fault: the program with its commit, then a line for each runtime's parts, built in
// or found here.
std::string version_text() {
  std::string text = "duogemm " DUOGEMM_VERSION " (commit " + std::string(commit()) + ")";
  const auto add = [&](const std::string& what, const std::string& version) {
    text += "\n" + what + ": " + version;
  };
  add("backends", names_of(laboratory_backends()));
  add("build switches", build_switches());
  for (const Backend* backend : laboratory_backends()) {
    for (const auto& [what, version] : versions_of(*backend)) {
      add(what, version);
    }
  }
  if (const std::string driver = nvidia_driver(); !driver.empty()) {
    add("NVIDIA driver", driver);
  }
  return text;
}

// What CLI11 says of an option's values, without what only a programmer wants to know: "INT:INT in [1 - 9]".
// A long list may be broken between its words.
std::string plain_values(std::string line) {
  static const Pattern twice("(U?INT|FLOAT):\\1 in");
  static const Pattern comma(",");
  line = twice.replace(line, "$1 in");
  constexpr std::size_t narrow = 80;
  const std::size_t end = std::min(line.find('}'), line.size());
  return end < narrow || end == line.size() ? line
                                            : comma.replace(line.substr(0, end), ", ") + line.substr(end);
}

// CLI11's help in lines that are no longer than the terminal.
std::string help_text(const CLI::App* app, std::string name, CLI::AppFormatMode mode) {
  constexpr std::size_t descriptions = 30;  // the column where CLI11 begins them
  std::istringstream lines(CLI::Formatter().make_help(app, std::move(name), mode));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    text += filled(plain_values(line), line.starts_with(' ') ? descriptions : 0);
  }
  return text;
}

// Throws invalid_argument when the first argument names no command.
void require_command(const CLI::App& app, const std::string& given) {
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  const auto name = [](const CLI::App* command) { return command->get_name(); };
  if (std::ranges::count(commands, given, name) == 0 && !given.starts_with('-')) {
    std::vector<std::string> names;
    std::ranges::transform(commands, std::back_inserter(names), name);
    reject((given.empty() ? "no command was given" : "no command '" + given + "'") +
           suggestion(given, names) + "; there are " + join(names) + " (and --help)");
  }
}

// Says which option the command does not have, also where something else is missing; else what else it does
// not take, or what the parser says.
std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> extras = app.remaining(true);
  const auto option = std::ranges::find_if(extras, [](const std::string& word) {
    return word.starts_with('-') && word.find_first_not_of('-') != word.npos;
  });
  const CLI::App& command = app.get_subcommands().empty() ? app : *app.get_subcommands().front();
  if (option == extras.end()) {
    const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
    return is_extra ? command.get_name() + " takes no '" + extras.front() + "'" : error.what();
  }
  std::vector<std::string> names;
  for (const CLI::Option* each : command.get_options()) {
    for (const std::string& name : each->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  const std::string given = option->substr(0, option->find('='));
  return command.get_name() + " has no option " + given + suggestion(given, names) + " (--help lists them)";
}

// It is bad input if the user can mend it by asking for something else, and else a failure.
int status_of(Status status) {
  return status == Status::build_failed || status == Status::device_error ? failure : bad_input;
}

// The status, unless something that was printed has not arrived, as on a disk that is full.
int finish_output(int status) {
  write_given_results();
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return arrived ? status : complain("the standard output could not be written", failure);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  environment_at_start();
  prepare_standard_output();
  Program program;
  program.given = {argv + std::min(argc, 2), argv + argc};
  CLI::App& app = program.app;
  app.set_version_flag("--version", version_text,
                       "Print the versions of this program and of the runtimes, and exit");
  app.formatter_fn(help_text);
  app.require_subcommand(1);
  for (AddCommand* add :
       {add_accuracy_command, add_compare_command, add_completion_command, add_devices_command,
        add_diff_command, add_explain_command, add_ladder_command, add_latency_command, add_man_command,
#ifdef DUOGEMM_WITH_WEBGPU
        add_page_command,
#endif
        add_plan_command, add_replay_command, add_report_command, add_run_command, add_sweep_command,
        add_tune_command, add_verify_command, add_warm_command}) {
    add(program);
  }
  Table::room = terminal_columns();
  Table::colours = terminal_has_colours();
  try {
    require_command(app, argc > 1 ? argv[1] : "");
    app.parse(argc, argv);
    return finish_output(program.status);
  } catch (const CLI::Success& request) {  // --help, --version
    const int status = app.exit(request);
    std::cout.flush();
    return finish_output(status);
  } catch (const CLI::ParseError& error) {
    return complain(complaint(app, error), bad_input);
  } catch (const Error& error) {
    return complain(error.what(), status_of(error.status()));
  } catch (const std::bad_alloc&) {
    return complain("the machine has too little memory for that", bad_input);
  } catch (const std::exception& error) {
    return complain(error.what(), failure);
  }
}

}  // namespace duogemm::bench
