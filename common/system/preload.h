// Programs that are started with libraries in front of their own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace duogemm {

// Starts the program in place of this one, whose process it becomes, with these libraries in front of those
// that it asks for. Returns only where it cannot be started, with the reason as errno. Throws unsupported
// where the system cannot do that with such libraries.
int become_program(const std::vector<std::string>& words,
                   const std::vector<std::filesystem::path>& libraries);

}  // namespace duogemm
