// A result on the standard output: `--json -`.
#pragma once

#include <string>

namespace duogemm::bench {

// What stands for the standard output where a file is asked for.
inline constexpr const char* standard_output = "-";

// Keeps the standard output for a result: all else that is printed there goes to the error output from now
// on. Throws invalid_argument when it is kept already, naming `option`.
void keep_standard_output(const std::string& option);

// What the result is, in place of what was given before: of a run that is interrupted, the last counts.
void give_result(std::string text);

// At the end: prints the result, if there is one.
void print_result();

}  // namespace duogemm::bench
