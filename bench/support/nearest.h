// What somebody may have meant who wrote a name wrong.
#pragma once

#include <string>
#include <vector>

namespace duogemm::bench {

// "; did you mean packed?", of the name that is at most two letters away from the given one , or begins with
// it; empty where there is none.
std::string suggestion(const std::string& given, const std::vector<std::string>& names);

}  // namespace duogemm::bench
