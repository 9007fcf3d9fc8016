// What the library says of itself, for who asks.
#pragma once

#include <string>

namespace duogemm {

// Writes "duogemm: <line>" to standard error when the environment variable DUOGEMM_LOG is set to anything but
// 0.
void log_line(const std::string& line);

}  // namespace duogemm
