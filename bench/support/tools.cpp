#include "support/tools.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

extern char** environ;

namespace duogemm::bench {
namespace {

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::string read_all(int from) {
  std::string text;
  std::array<char, 65536> buffer;
  for (ssize_t count; (count = read(from, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<std::string> current_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

// As it was when this program started. OpenCL's drivers change it (PoCL sets HWLOC_PLUGINS_PATH), and a
// program that inherits that may see fewer devices.
const std::vector<std::string> environment_at_start = current_environment();

// That environment with some NAME=VALUE besides or instead. They must outlive it.
std::vector<char*> environment_with(const std::vector<std::string>& changes) {
  std::vector<char*> all;
  for (const std::string& change : changes) {
    all.push_back(const_cast<char*>(change.c_str()));
  }
  for (const std::string& kept : environment_at_start) {
    const std::string name = kept.substr(0, kept.find('=') + 1);
    if (std::none_of(changes.begin(), changes.end(),
                     [&](const std::string& change) { return change.starts_with(name); })) {
      all.push_back(const_cast<char*>(kept.c_str()));
    }
  }
  all.push_back(nullptr);
  return all;
}

}  // namespace

std::optional<std::filesystem::path> find_tool(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "") + ":/usr/local/cuda/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    if (!folder.empty() && access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return std::nullopt;
}

ToolResult run_tool(const std::filesystem::path& tool, const std::vector<std::string>& arguments,
                    ToolErrors errors, const std::vector<std::string>& environment) {
  ToolResult not_started{127, {}};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return not_started;
  }
  FileActions actions;
  posix_spawn_file_actions_adddup2(actions.get(), ends[1], STDOUT_FILENO);
  if (errors == ToolErrors::drop) {
    posix_spawn_file_actions_addopen(actions.get(), STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  std::vector<char*> words = {const_cast<char*>(tool.c_str())};
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  pid_t child = 0;
  const bool started = posix_spawn(&child, tool.c_str(), actions.get(), nullptr, words.data(),
                                   environment_with(environment).data()) == 0;
  close(ends[1]);
  ToolResult result = not_started;
  if (started) {
    result.out = read_all(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 127;
  }
  close(ends[0]);
  return result;
}

}  // namespace duogemm::bench
