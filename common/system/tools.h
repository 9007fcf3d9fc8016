// Programs of others, such as compilers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace duogemm {

// The environment as it was when this was called first. OpenCL's drivers change it, and a program that
// inherits that may see fewer devices: whoever starts programs calls this before a device is used.
const std::vector<std::string>& environment_at_start();

// As execvp() takes them, which must outlive it.
std::vector<char*> argument_list(const std::vector<std::string>& texts);

// Finds the program on PATH, or else in that folder.
std::optional<std::filesystem::path> find_tool(const std::string& name, const std::string& otherwise = {});

struct ToolResult {
  int status;       // its exit status; 127 when it could not be started
  std::string out;  // its standard output
};

// Runs it and waits. Its standard error is this program's, goes nowhere, or stands in `out` as well; its
// environment is environment_at_start() with these NAME=VALUE besides or instead.
enum class ToolErrors { show, drop, keep };
ToolResult run_tool(const std::filesystem::path& tool, const std::vector<std::string>& arguments,
                    ToolErrors errors, const std::vector<std::string>& environment = {});

}  // namespace duogemm
