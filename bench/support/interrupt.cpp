#include "support/interrupt.h"

#include <chrono>
#include <csignal>

namespace duogemm::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> has_come{false};
volatile std::sig_atomic_t which = 0;
std::atomic<Clock::time_point> come_at;

// `timeout` sends its signal to the program and to the group that the program is of: twice.
extern "C" void on_interrupt(int signal) {
  constexpr std::chrono::milliseconds patience(500);
  if (!has_come) {
    come_at = Clock::now();
    which = signal;
    has_come = true;
  } else if (Clock::now() - come_at.load() > patience) {
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
