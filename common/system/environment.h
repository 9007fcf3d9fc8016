// The environment's variables.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace duogemm {

// The environment as it was when this was called first. OpenCL's drivers change it, and a program that
// inherits that may see fewer devices: whoever starts programs calls this before a device is used.
const std::vector<std::string>& environment_at_start();

// That environment with some NAME=VALUE besides or instead.
std::vector<std::string> environment_with(const std::vector<std::string>& changes);

// For this process, and those that it starts by other ways than run_tool().
void set_environment(const char* name, const std::string& value);

// Answers the path that a variable names; nothing where it is not set.
std::optional<std::filesystem::path> environment_path(const char* name);

}  // namespace duogemm
