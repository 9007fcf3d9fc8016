#include "system/interrupts.h"

#include <csignal>

namespace duogemm {
namespace {

bool (*called)(int signal) = nullptr;

extern "C" void on_signal(int signal) {
  if (!called(signal)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

void call_on_interrupts(bool (*takes)(int signal)) {
  called = takes;
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

}  // namespace duogemm
