#include "kernel_source.h"

#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include "duogemm/error.h"

namespace duogemm {
namespace {

std::string read_embedded(const std::string& path) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.path == path) {
      return std::string(file.text);
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
  return directory ? read_from_disk(*directory + "/" + path) : read_embedded(path);
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
    static const std::string directive = "#include \"";
    std::string result = "#line 1 \"" + name + "\"\n";
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.rfind(directive, 0) != 0) {
        result += line + "\n";
        continue;
      }
      const std::string included = line.substr(directive.size(), line.size() - directive.size() - 1);
      if (seen_.insert(included).second) {
        const std::string found = read("compat/" + included);
        result += complete(included, found.empty() ? require("kernels/" + included) : found);
        result += "#line " + std::to_string(number + 1) + " \"" + name + "\"\n";
      }
    }
    return result;
  }

 private:
  std::set<std::string> seen_;
};

KernelSource read_kernel(const std::string& path) {
  const std::string text = require("kernels/" + path);
  KernelSource source{Completer().complete(path, text), parse_tunables(text), !kernel_directory(),
                      text.find("AWAIT_STEP_BEFORE();") != std::string::npos};
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
