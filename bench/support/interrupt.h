// Ctrl-C, and the signal of a timeout, for commands that end in good order with what they have by then.
#pragma once

#include <atomic>

namespace duogemm::bench {

// From now on both are noted. Another one, at least half a second later, ends the program at once.
void note_interrupts();

// One of them has come: this stays true.
const std::atomic<bool>& interrupted();

// The status; or, where a signal has come, what a shell expects then: 130 after SIGINT, 143 after SIGTERM.
int status_unless_interrupted(int status);

}  // namespace duogemm::bench
