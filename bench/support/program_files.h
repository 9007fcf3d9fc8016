// What comes with the program: lists of shapes, and the tool that draws.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace duogemm::bench {

// Where the program is.
std::filesystem::path program_folder();

// Where the folder of that name is: beside the program in a build folder, or where an installation puts it.
// The one or the other exists.
std::vector<std::filesystem::path> program_folders(const std::string& name);

}  // namespace duogemm::bench
