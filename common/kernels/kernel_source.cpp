#include "kernels/kernel_source.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

#include "duogemm/error.h"

namespace duogemm {
namespace {

struct Found {
  std::string_view text;
  FindFatbin fatbin;
};

// All files, the library's first. Any thread may look for one while another adds some.
struct AllFiles {
  std::mutex mutex;
  std::vector<KernelFiles> files{{embedded_files()}};
};
AllFiles& all_files() {
  static AllFiles& all = *new AllFiles;
  return all;
}

Found find_embedded(std::string_view path) {
  AllFiles& all = all_files();
  const std::lock_guard lock(all.mutex);
  for (const KernelFiles& files : all.files) {
    for (const EmbeddedFile& file : files.texts) {
      if (file.path == path) {
        return {file.text, files.fatbin};
      }
    }
  }
  return {};
}

std::string read_from_disk(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : std::string();
}

std::optional<std::string> kernel_directory() {
  const char* directory = std::getenv("DUOGEMM_KERNEL_DIR");
  return directory ? std::optional<std::string>(directory) : std::nullopt;
}

std::string read(const std::string& path) {
  const std::optional<std::string> directory = kernel_directory();
  return directory ? read_from_disk(*directory + "/" + path) : std::string(embedded_text(path));
}

std::string require(const std::string& path) {
  std::string text = read(path);
  if (text.empty()) {
    const std::optional<std::string> directory = kernel_directory();
    throw Error(Status::invalid_argument, directory
                                              ? "DUOGEMM_KERNEL_DIR: no file " + path + " in " + *directory
                                              : "no kernel file " + path);
  }
  return text;
}

class Completer {
 public:
  std::string complete(const std::string& name, const std::string& text) {
    std::string result;
    append(name, text, result);
    return result;
  }
  // What it found under kernels/, one file behind the other: there the tunables of a kernel in a folder are.
  const std::string& included_kernel_files() const { return included_kernel_files_; }

 private:
  void append(const std::string& name, std::string_view text, std::string& result) {
    constexpr std::string_view directive = "#include \"";
    result.append("#line 1 \"").append(name).append("\"\n");
    int number = 0;
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      ++number;
      if (!line.starts_with(directive)) {
        result.append(line).append("\n");
        continue;
      }
      const std::string included(line.substr(directive.size(), line.size() - directive.size() - 1));
      if (seen_.insert(included).second) {
        std::string found = read("compat/" + included);
        if (found.empty()) {
          found = require("kernels/" + included);
          included_kernel_files_ += found;
        }
        append(included, found, result);
        result.append("#line ").append(std::to_string(number + 1)).append(" \"").append(name).append("\"\n");
      }
    }
  }

  std::set<std::string> seen_;
  std::string included_kernel_files_;
};

KernelSource read_kernel(const std::string& path) {
  const std::string text = require("kernels/" + path);
  Completer completer;
  const std::string complete = completer.complete(path, text);
  KernelSource source{complete,
                      parse_tunables(text + completer.included_kernel_files()),
                      !kernel_directory(),
                      text.find("#include \"warpgroups.h\"") != std::string::npos,
                      text.find("AWAIT_STEP_BEFORE();") != std::string::npos,
                      find_embedded("kernels/" + path).fatbin};
  for (TunableDeclaration& tunable : source.tunables) {
    for (const auto& [name, value] : build_tunables()) {
      if (tunable.name == name) {
        tunable.standard = value;
      }
    }
  }
  return source;
}

}  // namespace

void add_kernel_files(const KernelFiles& files) {
  AllFiles& all = all_files();
  const std::lock_guard lock(all.mutex);
  all.files.push_back(files);
}

std::string_view embedded_text(std::string_view path) { return find_embedded(path).text; }

std::string complete_text(const std::string& text) { return Completer().complete("kernel", text); }

const KernelSource& load_kernel(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::pair<std::optional<std::string>, std::string>, KernelSource> known;
  const std::pair key(kernel_directory(), path);
  const std::lock_guard lock(mutex);
  const auto found = known.find(key);
  return found != known.end() ? found->second : known.emplace(key, read_kernel(path)).first->second;
}

}  // namespace duogemm
