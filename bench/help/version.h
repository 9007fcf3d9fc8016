// `duogemm --version` tells enough for a report of a fault.
#pragma once

#include <string>

namespace duogemm::bench {

// The commit that the program was built from, or "unknown". Defined by the build
// (cmake/scripts/WriteCommit.cmake).
const char* commit();

// The program with its commit, then a line for each runtime's parts, built in or found here.
std::string version_text(const std::string& commit);

}  // namespace duogemm::bench
