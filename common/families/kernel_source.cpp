#include "families/kernel_source.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "system/environment.h"
#include "system/files.h"
#include "system/paths.h"
#include "system/reject.h"

namespace duogemm {
namespace {

// Takes what stands before `end` from the front of a text, and the end, too.
std::string_view take_until(std::string_view end, std::string_view& text) {
  const std::string_view front = text.substr(0, text.find(end));
  text.remove_prefix(std::min(front.size() + end.size(), text.size()));
  return front;
}

// Takes a number from the front of a text, with the spaces before it; nothing where there is none.
std::optional<int> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(' ') == std::string_view::npos; }

// Reads "#define NAME 32  // meaning: 8 16 32". By hand: streams and std::regex take milliseconds.
TunableDeclaration parse_definition(std::string_view name, std::string_view line) {
  const auto wrong = [&]() -> Error {
    return {Status::build_failed,
            "tunable " + std::string(name) + ": expected '#define " + std::string(name) +
                " <value>  // <meaning>: <allowed values>', found '" + std::string(line) + "'"};
  };
  const std::string start = "#define " + std::string(name) + " ";
  const std::size_t comment = line.find("// ");
  const std::size_t colon = line.rfind(": ");
  if (!line.starts_with(start) || comment == std::string_view::npos || colon == std::string_view::npos ||
      colon < comment + 3) {
    throw wrong();
  }
  TunableDeclaration declaration{
      std::string(name), 0, std::string(line.substr(comment + 3, colon - comment - 3)), {}};
  std::string_view value = line.substr(start.size(), comment - start.size());
  std::string_view range = line.substr(colon + 2);
  const std::optional<int> standard = take_number(value);
  while (const std::optional<int> allowed = take_number(range)) {
    declaration.allowed.push_back(*allowed);
  }
  if (!standard || !is_blank(value) || !is_blank(range) || declaration.allowed.empty()) {
    throw wrong();
  }
  declaration.standard = *standard;
  if (!declaration.allows(declaration.standard)) {
    throw Error(Status::build_failed,
                "tunable " + std::string(name) + ": its value is not among the allowed ones");
  }
  return declaration;
}

// All files, the library's first. Any thread may look for one while another adds some.
struct AllFiles {
  std::mutex mutex;
  std::vector<std::span<const EmbeddedFile>> files{embedded_files()};
};
AllFiles& all_files() {
  static AllFiles& all = *new AllFiles;
  return all;
}

thread_local const std::string* directory_of_thread = nullptr;

}  // namespace

std::optional<std::string> kernel_directory() {
  if (directory_of_thread) {
    return *directory_of_thread;
  }
  const std::string directory = environment_path("DUOGEMM_KERNEL_DIR").value_or("").string();
  return directory.empty() ? std::nullopt : std::optional(directory);
}

namespace {

std::string read(const std::string& path) {
  const std::optional<std::string> directory = kernel_directory();
  if (!directory) {
    return std::string(embedded_text(path));
  }
  std::string text = read_file(path_of(*directory) / path).value_or("");
  std::erase(text, '\r');  // as Windows' editors end lines
  return text;
}

std::string require(const std::string& path) {
  std::string text = read(path);
  if (text.empty()) {
    const std::optional<std::string> directory = kernel_directory();
    reject("no kernel file " + path + (directory ? " in the folder " + *directory : ""));
  }
  return text;
}

constexpr std::string_view directive = "#include \"";

// Finds the next line that includes.
std::size_t next_include(std::string_view text) {
  std::size_t found = text.find(directive);
  while (found != std::string_view::npos && found != 0 && text[found - 1] != '\n') {
    found = text.find(directive, found + 1);
  }
  return found;
}

// Takes such a line from the front of a text, and answers what it includes.
std::string take_include(std::string_view& text) {
  const std::string_view line = take_until("\n", text);
  return std::string(line.substr(directive.size(), line.size() - directive.size() - 1));
}

// Without compat/, it gathers all in which a kernel's tunables may be.
std::string complete(const std::string& name, const std::string& text, bool with_compat = true) {
  std::string result;
  std::set<std::string> seen;
  // Lines between those that include are copied as one piece.
  const std::function<void(const std::string&, std::string_view)> append = [&](const std::string& file,
                                                                               std::string_view rest) {
    result.append("#line 1 \"").append(file).append("\"\n");
    std::ptrdiff_t number = 0;  // of lines that are done
    while (!rest.empty()) {
      const std::string_view lines = rest.substr(0, next_include(rest));
      result.append(lines);
      rest.remove_prefix(lines.size());
      number += std::count(lines.begin(), lines.end(), '\n');
      if (rest.empty()) {
        result.append(lines.ends_with('\n') ? "" : "\n");
        return;
      }
      const std::string included = take_include(rest);
      ++number;
      if (seen.insert(included).second) {
        const std::string found = read("compat/" + included);
        if (found.empty() || with_compat) {
          append(included, found.empty() ? require("kernels/" + included) : found);
        }
        result.append("#line ").append(std::to_string(number + 1)).append(" \"").append(file).append("\"\n");
      }
    }
  };
  append(name, text);
  return result;
}

// What is made of a kernel's file, once in a process for each directory that files come from.
template <typename Make>
const auto& made_once(const std::string& path, const Make& make) {
  using Made = decltype(make(path));
  static std::mutex& mutex = *new std::mutex;
  static auto& made = *new std::map<std::pair<std::optional<std::string>, std::string>, Made>;
  const std::pair key(kernel_directory(), path);
  const std::lock_guard lock(mutex);
  const auto found = made.find(key);
  return found != made.end() ? found->second : made.emplace(key, make(path)).first->second;
}

KernelSource read_kernel(const std::string& path) {
  const std::string text = require("kernels/" + path);
  KernelSource source{parse_tunables(complete(path, text, false)), parse_needs(text), !kernel_directory()};
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

bool TunableDeclaration::allows(int value) const {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

std::string TunableDeclaration::allowed_text() const {
  std::string text;
  for (const int value : allowed) {
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  }
  return text;
}

std::vector<TunableDeclaration> parse_tunables(std::string_view kernel_text) {
  constexpr std::string_view guard = "#ifndef ";
  std::vector<TunableDeclaration> declarations;
  while (!kernel_text.empty()) {
    const std::string_view line = take_until("\n", kernel_text);
    if (line.starts_with(guard)) {
      declarations.push_back(parse_definition(line.substr(guard.size()), take_until("\n", kernel_text)));
    }
  }
  return declarations;
}

DeviceNeeds parse_needs(std::string_view kernel_text) {
  constexpr std::string_view start = "// device: ";
  constexpr std::string_view capability = "compute_capability ";
  DeviceNeeds needs;
  while (!kernel_text.empty()) {
    std::string_view rest = take_until("\n", kernel_text);
    if (!rest.starts_with(start)) {
      continue;
    }
    rest.remove_prefix(start.size());
    while (!rest.empty()) {
      std::string_view need = take_until(", ", rest);
      if (need == "starts_early") {
        needs.starts_early = true;
        continue;
      }
      const bool known = need.starts_with(capability);
      need.remove_prefix(known ? capability.size() : 0);
      const std::optional<int> number = known ? take_number(need) : std::nullopt;
      if (!number || !(need.empty() || need == " alone")) {
        throw Error(Status::build_failed, "'" + std::string(start) + "...' has '" + std::string(need) +
                                              "'; it may have 'compute_capability <number>', followed by "
                                              "' alone' or not, and 'starts_early'");
      }
      needs.compute_capability = *number;
      needs.alone = !need.empty();
    }
  }
  return needs;
}

Tunables applicable(const Tunables& values, const std::vector<TunableDeclaration>& declared) {
  Tunables result;
  for (const TunableDeclaration& tunable : declared) {
    if (const auto found = values.find(tunable.name); found != values.end()) {
      result.insert(*found);
    }
  }
  return result;
}

int value_or(const Tunables& tunables, std::string_view name, int otherwise) {
  const auto found = tunables.find(name);
  return found != tunables.end() ? found->second : otherwise;
}

std::string to_text(const Tunables& tunables) {
  std::string text;
  for (const auto& [name, value] : tunables) {
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(value);
  }
  return text;
}

void add_kernel_files(std::span<const EmbeddedFile> files) {
  AllFiles& all = all_files();
  const std::lock_guard lock(all.mutex);
  all.files.push_back(files);
}

KernelsFrom::KernelsFrom(const std::string& directory) : before_(directory_of_thread) {
  directory_of_thread = &directory;
}
KernelsFrom::~KernelsFrom() { directory_of_thread = before_; }

std::string_view embedded_text(std::string_view path) {
  AllFiles& all = all_files();
  const std::lock_guard lock(all.mutex);
  for (const std::span<const EmbeddedFile> files : all.files) {
    for (const EmbeddedFile& file : files) {
      if (file.path == path) {
        return file.text;
      }
    }
  }
  return {};
}

std::string complete_text(const std::string& text) { return complete("kernel", text); }

const KernelSource& load_kernel(const std::string& path) { return made_once(path, read_kernel); }

const std::string& kernel_text(const std::string& path) {
  return made_once(path, [](const std::string& of) { return complete(of, require("kernels/" + of)); });
}

}  // namespace duogemm
