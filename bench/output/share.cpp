#include "output/share.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "support/format.h"
#include "system/files.h"
#include "system/parse_json.h"
#include "system/paths.h"
#include "system/reject.h"
#include "system/this_process.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

using Names = std::set<std::string, std::less<>>;

// Members that no result file has by itself: somebody has added them.
const Names private_members = {"user", "username",  "host",    "hostname",
                               "home", "directory", "command", "environment"};

// Members whose values are words of the program's own.
const Names kept_members = {"schema",    "version",   "date",  "operands", "cache_preference",
                            "level",     "precision", "input", "through",  "backend",
                            "rung",      "kernel",    "idea",  "tunables", "language",
                            "limited_by"};

const Names kinds = {"ladder", "compare", "explain", "replay", "sweep"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Measures the path that a text begins with: an absolute one, or one from a home folder; 0 where there is
// none. This is done by hand, as std::regex calls itself for each character, and long texts end the process.
std::size_t length_of_path(std::string_view text) {
  constexpr std::string_view of_names =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+@~-";
  constexpr std::string_view ends = " \t\n\v\f\r\"',;:)";
  if (text.front() != '/' && text.front() != '~') {
    return 0;
  }
  const std::size_t first_name = text.find_first_not_of(of_names, 1);
  if (first_name != std::string_view::npos && text[first_name] == '/') {
    return std::min(text.find_first_of(ends, first_name), text.size());
  }
  for (const std::string_view folder : {"/home", "/root", "/tmp"}) {
    if (text.starts_with(folder) && (text.size() == folder.size() || !is_word(text[folder.size()]))) {
      return folder.size();
    }
  }
  return 0;
}

class Cleaner {
 public:
  explicit Cleaner(const Identity& identity) {
    for (const auto& [name, substitute] : {std::pair{identity.host, "HOST"}, {identity.user, "USER"}}) {
      // Names that every machine has tell nothing.
      if (name.size() > 1 && name != "root" && name != "localhost") {
        names_.emplace_back(name, substitute);
      }
    }
  }

  int replaced() const { return replaced_; }

  void clean(Json& value) {
    if (value.is_string()) {
      std::string text = without_paths(value.get<std::string>());
      for (const auto& [name, substitute] : names_) {
        text = without_name(std::move(text), name, substitute);
      }
      value = std::move(text);
    }
    for (auto part = value.begin(); value.is_structured() && part != value.end();) {
      const std::string member = value.is_object() ? part.key() : "";
      if (private_members.contains(member)) {
        part = value.erase(part);
        ++replaced_;
        continue;
      }
      if (!kept_members.contains(member)) {
        clean(*part);
      }
      ++part;
    }
  }

 private:
  // A path begins a text or stands behind what is no part of a word.
  std::string without_paths(std::string_view rest) {
    constexpr std::string_view inside_paths = ".)/~";
    std::string cleaned;
    while (!rest.empty()) {
      const char before = cleaned.empty() ? ' ' : cleaned.back();
      const bool inside = is_word(before) || inside_paths.find(before) != std::string_view::npos;
      const std::size_t path = inside ? 0 : length_of_path(rest);
      cleaned.append(path > 0 ? "PATH" : rest.substr(0, 1));
      rest.remove_prefix(std::max<std::size_t>(path, 1));
      replaced_ += path > 0 ? 1 : 0;
    }
    return cleaned;
  }

  // Replaces it where it is a word of its own.
  std::string without_name(std::string text, const std::string& name, const std::string& substitute) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
      const std::size_t end = at + name.size();
      if ((at > 0 && is_word(text[at - 1])) || (end < text.size() && is_word(text[end]))) {
        at = end;
        continue;
      }
      text.replace(at, name.size(), substitute);
      at += substitute.size();
      ++replaced_;
    }
    return text;
  }

  std::vector<std::pair<std::string, std::string>> names_;
  int replaced_ = 0;
};

// The kind of a result file, or nothing.
std::string kind_of(const Json& document) {
  const std::string schema = document.is_object() ? document.value("schema", "") : "";
  const auto found =
      std::ranges::find(kinds, schema, [](const std::string& kind) { return "duogemm." + kind + "/1"; });
  return found == kinds.end() ? "" : *found;
}

// Small letters and digits, with one underscore for whatever stands between them.
std::string as_file_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  return name.substr(0, name.find_last_not_of('_') + 1);
}

// By its devices and their runtimes; throws Json's exception where these are missing.
std::string name_of(const Json& document, const std::string& kind) {
  std::vector<std::string> words;
  const auto add = [&](const Json& device) {
    for (const char* member : {"name", "backend"}) {
      const std::string word = as_file_name(device.at(member).get<std::string>());
      if (std::ranges::count(words, word) == 0) {
        words.push_back(word);
      }
    }
  };
  if (document.contains("device")) {
    add(document["device"]);
  } else {
    for (const Json& run : document.at(kind == "explain" ? "devices" : "runs")) {
      add(run.at("device"));
    }
  }
  words.push_back(kind);
  return join(words, "_");
}

}  // namespace

SharedFile shared_file(const std::string& path, const std::string& text, const Identity& identity) {
  try {
    Json document = parse_json(text);
    const std::string kind = kind_of(document);
    if (kind.empty()) {
      reject("its schema is none of duogemm.ladder/1, compare/1, explain/1, replay/1 and sweep/1");
    }
    Cleaner cleaner(identity);
    cleaner.clean(document);
    return {name_of(document, kind), std::move(document), cleaner.replaced()};
  } catch (const Error& error) {
    reject(path + ": " + error.what());
  } catch (const Json::exception&) {
    reject(path + ": this is no whole result file: it does not name its device and runtime");
  }
}

void share_results(const std::vector<std::string>& paths, const std::string& folder) {
  const Identity identity = {user_name(), host_name()};
  std::vector<SharedFile> files;
  for (const std::string& path : paths) {
    files.push_back(shared_file(path, read_file_or_reject(path_of(path)), identity));
  }
  std::multiset<std::string> seen;
  const fs::path to = path_of(folder);
  for (SharedFile& file : files) {
    seen.insert(file.name);
    const std::size_t count = seen.count(file.name);  // of those that would have the same name
    file.name += (count > 1 ? "_" + std::to_string(count) : "") + ".json";
    if (fs::exists(to / file.name)) {
      reject((to / file.name).string() + " is there already: move it away, or name another folder with -o");
    }
  }
  std::error_code failed;
  fs::create_directories(to, failed);
  if (!fs::is_directory(to)) {
    reject("-o " + folder + ": the folder could not be made");
  }
  for (const SharedFile& file : files) {
    const fs::path copy = to / file.name;
    write_file(copy, file.document.dump(1) + "\n");
    std::printf("%s (%d names, paths and private members taken out)\n", copy.string().c_str(), file.replaced);
  }
  std::printf(
      "Next: look through %s, and send a pull request with what tools/summary.py add makes of %s.\n"
      "Clocks, driver and versions are kept: figures mean nothing without.\n",
      files.size() == 1 ? "it" : "them", files.size() == 1 ? "it" : "them");
}

}  // namespace duogemm::bench
