#include "output/files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

#include "system/files.h"
#include "system/paths.h"
#include "system/reject.h"
#include "system/terminal.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

constexpr const char* standard_output = "-";

bool is_diverted = false;                    // the standard output, to the standard error
std::map<std::string, std::string> results;  // that wait for the end, by place

}  // namespace

void require_writable(const std::string& option, const std::string& path) {
  const std::string what = option + " " + path + ": ";
  const fs::path file = path_of(path);
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!fs::is_directory(folder)) {
    reject(what + "there is no folder " + folder.string());
  }
  if (fs::is_directory(file)) {
    reject(what + "that is a folder; give a file's name");
  }
  if (!may_write(fs::exists(file) ? file : folder)) {
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
  is_diverted = divert_standard_output();
  if (!is_diverted) {
    reject(option + " -: there is no standard output");
  }
}

void write_result(const std::string& path, const std::string& text) {
  const fs::path file = path_of(path);
  std::error_code none;
  if (path == standard_output || (fs::exists(file, none) && !fs::is_regular_file(file, none))) {
    results[path] = text;
  } else if (!path.empty()) {
    write_file(file, text);
  }
}

void write_given_results() {
  if (is_diverted) {
    restore_standard_output();
  }
  for (const auto& [place, text] : results) {
    if (place == standard_output) {
      std::fputs(text.c_str(), stdout);
    } else {
      write_file(path_of(place), text);
    }
  }
}

}  // namespace duogemm::bench
