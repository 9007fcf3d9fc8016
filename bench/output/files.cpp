#include "output/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

#include "system/files.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* standard_output = "-";

int kept = -1;                               // a file descriptor
std::map<std::string, std::string> results;  // that wait for the end, by place

}  // namespace

void require_writable(const std::string& option, const std::string& path) {
  const std::string what = option + " " + path + ": ";
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  if (!fs::is_directory(folder)) {
    reject(what + "there is no folder " + folder.string());
  }
  if (fs::is_directory(path)) {
    reject(what + "that is a folder; give a file's name");
  }
  const bool is_there = ::access(path.c_str(), F_OK) == 0;
  if (::access(is_there ? path.c_str() : folder.c_str(), W_OK) != 0) {
    reject(what + std::generic_category().message(errno));
  }
}

void require_place(const std::string& option, const std::string& path) {
  if (path.empty()) {
    return;
  }
  if (path != standard_output) {
    require_writable(option, path);
    return;
  }
  if (kept >= 0) {
    reject(option + " -: another result goes to the standard output already; name a file for one of them");
  }
  std::fflush(stdout);
  kept = dup(STDOUT_FILENO);
  if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    reject(option + " -: there is no standard output");
  }
}

void write_result(const std::string& path, const std::string& text) {
  std::error_code none;
  if (path == standard_output || (fs::exists(path, none) && !fs::is_regular_file(path, none))) {
    results[path] = text;
  } else if (!path.empty()) {
    write_file(path, text);
  }
}

void write_given_results() {
  if (kept >= 0) {
    std::fflush(stdout);
    dup2(kept, STDOUT_FILENO);
  }
  for (const auto& [place, text] : results) {
    if (place == standard_output) {
      std::fputs(text.c_str(), stdout);
    } else {
      write_file(place, text);
    }
  }
}

}  // namespace duogemm::bench
