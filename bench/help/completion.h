// Scripts by which shells complete the program's command lines.
#pragma once

#include <string>

#include "help/command_tree.h"

namespace duogemm::bench {

std::string bash_completion(const CommandFacts& program);
std::string zsh_completion(const CommandFacts& program);
std::string fish_completion(const CommandFacts& program);

}  // namespace duogemm::bench
