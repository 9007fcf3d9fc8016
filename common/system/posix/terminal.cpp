#include "system/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace duogemm {
namespace {

int kept_output = -1;  // a file descriptor

}  // namespace

void prepare_standard_output() {}

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) != 0; }

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool divert_standard_output() {
  std::fflush(stdout);
  kept_output = dup(STDOUT_FILENO);
  return kept_output >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

void restore_standard_output() {
  std::fflush(stdout);
  dup2(kept_output, STDOUT_FILENO);
}

}  // namespace duogemm
