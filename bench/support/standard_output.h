// Results that are written once, at the end: on the standard output (`--json -`), and into what a file cannot
// take the place of, such as a FIFO, whose reader waits for one.
#pragma once

#include <string>

namespace duogemm::bench {

// What stands for the standard output where a file is asked for.
inline constexpr const char* standard_output = "-";

// Keeps the standard output for a result: all else that is printed there goes to the error output from now
// on. Throws invalid_argument when it is kept already, naming `option`.
void keep_standard_output(const std::string& option);

// What the result for a place is, in place of what was given before: of a run that is interrupted, the last
// counts.
void give_result(const std::string& place, std::string text);

// At the end: writes the results that there are. Throws invalid_argument where a place takes none.
void write_given_results();

}  // namespace duogemm::bench
