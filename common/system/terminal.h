// The standard streams, and the terminal that they may be.
#pragma once

#include <cstddef>
#include <cstdio>

namespace duogemm {

// Has the standard output take the program's text as it is, in UTF-8. To be called before anything is
// printed.
void prepare_standard_output();

bool is_terminal(std::FILE* stream);

// Characters in a line of the terminal that the standard output is; 0 where it is none, or does not tell.
std::size_t terminal_columns();

// From now on what is printed goes to the standard error. False where there is no such stream.
bool divert_standard_output();
// To the standard output again.
void restore_standard_output();

}  // namespace duogemm
