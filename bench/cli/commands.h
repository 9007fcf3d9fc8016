// The commands of the program. Each adds itself to the application; what it is to run goes to `action`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace duogemm::bench {

// Runs a command and answers the exit status.
using Action = std::function<int()>;

// Adds a command with its flags, which live as long as the application.
template <typename Flags>
void add_command(CLI::App& app, Action& action, const std::string& name, const std::string& description,
                 void (*add_options)(CLI::App& command, Flags& flags), int (*run)(const Flags& flags)) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(name, description);
  add_options(*command, *flags);
  command->callback([&action, flags, run] { action = [flags, run] { return run(*flags); }; });
}

void add_accuracy_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_completion_command(CLI::App& app, Action& action);
void add_devices_command(CLI::App& app, Action& action);
void add_explain_command(CLI::App& app, Action& action);
void add_ladder_command(CLI::App& app, Action& action);
void add_latency_command(CLI::App& app, Action& action);
void add_man_command(CLI::App& app, Action& action);
void add_plan_command(CLI::App& app, Action& action);
void add_replay_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
// `given`: all that stands after the command's name, as the shell gave it.
void add_run_command(CLI::App& app, Action& action, const std::vector<std::string>& given);
void add_sweep_command(CLI::App& app, Action& action);
void add_tune_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_warm_command(CLI::App& app, Action& action);

}  // namespace duogemm::bench
