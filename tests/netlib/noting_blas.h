// A BLAS that computes nothing, and notes what it was called with.
#pragma once

#include <sstream>
#include <string>
#include <vector>

// The calls so far, as noted() writes them.
std::vector<std::string>& calls_of_next_blas();

// A call as text: strings' first letters and scalars by value, arrays by address.
template <typename... Arguments>
std::string noted(const char* name, const Arguments&... arguments) {
  std::ostringstream text;
  text << name;
  const auto add = [&text](const auto& argument) { text << ' ' << argument; };
  (add(arguments), ...);
  return text.str();
}
