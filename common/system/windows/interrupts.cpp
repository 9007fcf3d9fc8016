#include "system/interrupts.h"

#include <csignal>

#include "system/windows/win32.h"

namespace duogemm {
namespace {

bool (*called)(int signal) = nullptr;

// Programs send Ctrl-Break to those that they end.
BOOL WINAPI on_event(DWORD event) {
  return (event == CTRL_C_EVENT && called(SIGINT)) || (event == CTRL_BREAK_EVENT && called(SIGTERM));
}

}  // namespace

// std::signal() would be told of the first alone.
void call_on_interrupts(bool (*takes)(int signal)) {
  called = takes;
  SetConsoleCtrlHandler(on_event, TRUE);
}

}  // namespace duogemm
