// Programs of others, such as compilers.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace duogemm {

// Finds the program on PATH, or else in that folder.
std::optional<std::filesystem::path> find_tool(const std::string& name,
                                               const std::filesystem::path& otherwise = {});

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
