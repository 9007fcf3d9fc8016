// The library speaks of itself: to who asks, and where it cannot do as it was told.
#pragma once

#include <string>

namespace duogemm {

// Answers whether the environment variable DUOGEMM_LOG is set to anything but 0.
bool log_is_wanted();

// Writes "duogemm: <line>" to standard error when that is so.
void log_line(const std::string& line);

// Writes "duogemm: <line>" to standard error.
void warn_line(const std::string& line);

}  // namespace duogemm
