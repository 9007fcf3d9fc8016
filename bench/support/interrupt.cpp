#include "support/interrupt.h"

#include <csignal>
#include <cstdint>
#include <ctime>

namespace duogemm::bench {
namespace {

std::atomic<bool> has_come{false};
volatile std::sig_atomic_t which = 0;

std::atomic<std::int64_t> come_at{0};  // in milliseconds

std::int64_t milliseconds() {
  std::timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

// `timeout` sends its signal to the program and to the group that the program is of: twice.
extern "C" void on_interrupt(int signal) {
  constexpr std::int64_t patience = 500;
  if (!has_come) {
    come_at = milliseconds();
    which = signal;
    has_come = true;
  } else if (milliseconds() - come_at > patience) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

void note_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

const std::atomic<bool>& interrupted() { return has_come; }

int status_unless_interrupted(int status) {
  constexpr int by_signal = 128;
  return has_come ? by_signal + which : status;
}

}  // namespace duogemm::bench
