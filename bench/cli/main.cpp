// duogemm: the laboratory's command-line program.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>

#include "cli/commands.h"
#include "duogemm/error.h"
#include "help/version.h"
#include "output/files.h"
#include "support/format.h"

namespace {

constexpr int bad_input = 2;
constexpr int failure = 1;

int complain(const std::string& message, int status) {
  std::fprintf(stderr, "duogemm: %s\n", message.c_str());
  return status;
}

// Throws invalid_argument when the first argument names no command.
void require_command(const CLI::App& app, int argc, char** argv) {
  const std::string given = argc > 1 ? argv[1] : "";
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  if (std::ranges::count(commands, given, [](const CLI::App* each) { return each->get_name(); }) > 0) {
    return;
  }
  if (given.rfind('-', 0) != 0) {
    const std::string known =
        duogemm::bench::join(commands, ", ", [](const CLI::App* each) { return each->get_name(); });
    throw duogemm::Error(duogemm::Status::invalid_argument,
                         (given.empty() ? "no command was given" : "no command '" + given + "'") +
                             "; there are " + known + " (and --help)");
  }
}

// It is bad input if the user can mend it by asking for something else, and else a failure.
int status_of(duogemm::Status status) {
  switch (status) {
    case duogemm::Status::invalid_argument:
    case duogemm::Status::unsupported:
    case duogemm::Status::out_of_memory:
      return bad_input;
    default:
      return failure;
  }
}

// The status, unless something that was printed has not arrived, as on a disk that is full.
int finish_output(int status) {
  duogemm::bench::write_given_results();
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return arrived ? status : complain("the standard output could not be written", failure);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("SGEMM kernels on OpenCL and CUDA: run, check and time them.", "duogemm");
  app.set_version_flag(
      "--version", [] { return duogemm::bench::version_text(duogemm::bench::commit()); },
      "Print the versions of this program and of the runtimes, and exit");
  app.require_subcommand(1);
  duogemm::bench::Action action;
  duogemm::bench::add_accuracy_command(app, action);
  duogemm::bench::add_compare_command(app, action);
  duogemm::bench::add_completion_command(app, action);
  duogemm::bench::add_devices_command(app, action);
  duogemm::bench::add_explain_command(app, action);
  duogemm::bench::add_ladder_command(app, action);
  duogemm::bench::add_latency_command(app, action);
  duogemm::bench::add_man_command(app, action);
  duogemm::bench::add_plan_command(app, action);
  duogemm::bench::add_replay_command(app, action);
  duogemm::bench::add_report_command(app, action);
  duogemm::bench::add_run_command(app, action, {argv + std::min(argc, 2), argv + argc});
  duogemm::bench::add_sweep_command(app, action);
  duogemm::bench::add_tune_command(app, action);
  duogemm::bench::add_verify_command(app, action);
  duogemm::bench::add_warm_command(app, action);
  try {
    require_command(app, argc, argv);
    app.parse(argc, argv);
    return finish_output(action());
  } catch (const CLI::Success& request) {  // --help, --version
    const int status = app.exit(request);
    std::cout.flush();
    return finish_output(status);
  } catch (const CLI::ParseError& error) {
    return complain(error.what(), bad_input);
  } catch (const duogemm::Error& error) {
    return complain(error.what(), status_of(error.status()));
  } catch (const std::bad_alloc&) {
    return complain("the machine has too little memory for that", bad_input);
  } catch (const std::exception& error) {
    return complain(error.what(), failure);
  }
}
