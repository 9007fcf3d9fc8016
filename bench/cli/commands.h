// The commands of the program. Each adds itself to the application; what it is to run goes to `action`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace duogemm::bench {

// Runs a command and answers the exit status.
using Action = std::function<int()>;

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
// `given`: all that stands behind the command's name, as the shell gave it.
void add_run_command(CLI::App& app, Action& action, const std::vector<std::string>& given);
void add_sweep_command(CLI::App& app, Action& action);
void add_tune_command(CLI::App& app, Action& action);
void add_verify_command(CLI::App& app, Action& action);
void add_warm_command(CLI::App& app, Action& action);

}  // namespace duogemm::bench
