// The commands of the program. Each adds itself.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace duogemm::bench {

struct Program {
  CLI::App app{"SGEMM kernels on OpenCL and CUDA: run, check and time them.", "duogemm"};
  std::vector<std::string> given;  // all that stands after the command's name, as the shell gave it
  int status = 0;                  // of the command, which runs when its line has been parsed
};

// Adds a command with its flags, which live as long as the application. Where results go is looked at before
// it runs.
template <typename Flags>
std::pair<CLI::App&, Flags&> add_command(Program& program, const std::string& name,
                                         const std::string& description, int (*run)(const Flags& flags)) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = program.app.add_subcommand(name, description);
  command->callback([&program, flags, run] {
    if constexpr (requires(const Flags& all) { all.results.require(); }) {
      flags->results.require();
    }
    program.status = run(*flags);
  });
  return {*command, *flags};
}

using AddCommand = void(Program& program);
AddCommand add_accuracy_command, add_compare_command, add_completion_command, add_devices_command,
    add_diff_command, add_explain_command, add_ladder_command, add_latency_command, add_man_command,
    add_page_command, add_plan_command, add_replay_command, add_report_command, add_run_command,
    add_sweep_command, add_tune_command, add_verify_command, add_warm_command;

}  // namespace duogemm::bench
