#pragma once

namespace duogemm::bench {

// Runs the command that the arguments name, and gives the program's exit status.
int run_command_line(int argc, char** argv);

}  // namespace duogemm::bench
