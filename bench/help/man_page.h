// The program's page for man.
#pragma once

#include <string>

#include "help/command_tree.h"

namespace duogemm::bench {

// In roff, with the macros of man(7).
std::string man_page(const CommandFacts& program, const std::string& version);

}  // namespace duogemm::bench
