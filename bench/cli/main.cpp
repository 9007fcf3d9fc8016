// duogemm: the laboratory's command-line program.
#include "support/program.h"

int main(int argc, char** argv) { return duogemm::bench::run_command_line(argc, argv); }
