#include "support/interrupt.h"

#include <csignal>

namespace duogemm::bench {
namespace {

std::atomic<bool> has_come{false};
volatile std::sig_atomic_t which = 0;

extern "C" void on_interrupt(int signal) {
  has_come = true;
  which = signal;
  std::signal(signal, SIG_DFL);
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
