// Guesses what somebody meant who wrote a name wrong.
#pragma once

#include <string>
#include <vector>

namespace duogemm::bench {

// Answers "; did you mean packed?" with the name that is at most two letters away from the given one, or
// begins with it; nothing where there is none.
std::string suggestion(const std::string& given, const std::vector<std::string>& names);

}  // namespace duogemm::bench
