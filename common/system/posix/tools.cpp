#include "system/tools.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "system/environment.h"
#include "system/posix/argument_list.h"
#include "system/posix/particulars.h"

namespace duogemm {

std::optional<std::filesystem::path> find_tool(const std::string& name,
                                               const std::filesystem::path& otherwise) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(std::string(path ? path : "") + ":" + otherwise.string());
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / name;
    std::error_code unknown;
    if (!folder.empty() && std::filesystem::is_regular_file(file, unknown) &&
        access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return std::nullopt;
}

ToolResult run_tool(const std::filesystem::path& tool, const std::vector<std::string>& arguments,
                    ToolErrors errors, const std::vector<std::string>& environment) {
  ToolResult result{127, {}};
  int ends[2];
  if (!make_pipe(ends)) {
    return result;
  }
  const int from = ends[0];
  const int to = ends[1];
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), tool);
  const std::vector<std::string> variables = environment_with(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
  if (errors == ToolErrors::drop) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  } else if (errors == ToolErrors::keep) {
    posix_spawn_file_actions_adddup2(&actions, to, STDERR_FILENO);
  }
  pid_t child = 0;
  const bool started = posix_spawn(&child, tool.c_str(), &actions, nullptr, argument_list(words).data(),
                                   argument_list(variables).data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(to);
  if (started) {
    std::array<char, 65536> buffer;
    ssize_t count = 0;
    while ((count = ::read(from, buffer.data(), buffer.size())) > 0 || (count < 0 && errno == EINTR)) {
      result.out.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    result.status = ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : result.status;
  }
  close(from);
  return result;
}

}  // namespace duogemm
