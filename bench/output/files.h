// Results in files, and on the standard output (`--json -`).
#pragma once

#include <string>

namespace duogemm::bench {

// Throws invalid_argument, naming `option`, when a file cannot be written there; leaves an existing one
// alone.
void require_writable(const std::string& option, const std::string& path);

// For a result that a command was asked for, where "-" stands for the standard output, and "" for nowhere.
// The standard output is kept for it: all else that is printed there goes to the error output from now on.
// Throws as require_writable.
void require_place(const std::string& option, const std::string& path);

// The result, in place of what was given before: of a run that is interrupted, the last counts. What goes to
// the standard output, or into what a file cannot take the place of, such as a FIFO, is written at the end.
void write_result(const std::string& path, const std::string& text);

// At the end: writes the results that wait for it. Throws invalid_argument where a place takes none.
void write_given_results();

}  // namespace duogemm::bench
