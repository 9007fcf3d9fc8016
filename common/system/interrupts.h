// What asks the program to end: Ctrl-C, and the signal of a timeout.
#pragma once

namespace duogemm {

// From now on `takes` is called each time, with the number of the signal: between any two instructions of a
// thread, or on a thread of its own. Where it answers false, the program ends at once.
void call_on_interrupts(bool (*takes)(int signal));

}  // namespace duogemm
