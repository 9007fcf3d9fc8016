#include "system/terminal.h"

#include <fcntl.h>
#include <io.h>

#include "system/windows/win32.h"

namespace duogemm {
namespace {

int kept_output = -1;  // a file descriptor

HANDLE output() { return GetStdHandle(STD_OUTPUT_HANDLE); }

}  // namespace

void prepare_standard_output() {
  _setmode(_fileno(stdout), _O_BINARY);
  SetConsoleOutputCP(CP_UTF8);
  DWORD mode = 0;
  if (GetConsoleMode(output(), &mode) != 0) {
    SetConsoleMode(output(), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
  }
}

bool is_terminal(std::FILE* stream) { return _isatty(_fileno(stream)) != 0; }

std::size_t terminal_columns() {
  CONSOLE_SCREEN_BUFFER_INFO told{};
  return GetConsoleScreenBufferInfo(output(), &told) != 0 ? static_cast<std::size_t>(told.dwSize.X) : 0;
}

bool divert_standard_output() {
  std::fflush(stdout);
  kept_output = _dup(_fileno(stdout));
  return kept_output >= 0 && _dup2(_fileno(stderr), _fileno(stdout)) == 0;
}

void restore_standard_output() {
  std::fflush(stdout);
  _dup2(kept_output, _fileno(stdout));
}

}  // namespace duogemm
