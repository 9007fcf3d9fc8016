// duogemm: the laboratory's command-line program.
#include "cli/command_line.h"

int main(int argc, char** argv) { return duogemm::bench::run_command_line(argc, argv); }
