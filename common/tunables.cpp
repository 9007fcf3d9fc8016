#include "tunables.h"

#include <algorithm>
#include <regex>
#include <sstream>

#include "duogemm/error.h"

namespace duogemm {
namespace {

std::string join(const std::vector<int>& values) {
  std::string text;
  for (int value : values) {
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  }
  return text;
}

TunableDeclaration parse_definition(const std::string& name, const std::string& line) {
  static const std::regex pattern(R"(^#define (\w+) (-?\d+)\s*// (.*): ([-\d ]+)$)");
  std::smatch match;
  if (!std::regex_match(line, match, pattern) || match[1] != name) {
    throw Error(Status::build_failed, "tunable " + name + ": expected '#define " + name +
                                          " <value>  // <meaning>: <allowed values>', found '" + line + "'");
  }
  TunableDeclaration declaration{name, std::stoi(match[2]), match[3], {}};
  std::istringstream range(match[4]);
  for (int value; range >> value;) {
    declaration.allowed.push_back(value);
  }
  if (!declaration.allows(declaration.standard)) {
    throw Error(Status::build_failed, "tunable " + name + ": its value is not among the allowed ones");
  }
  return declaration;
}

}  // namespace

bool TunableDeclaration::allows(int value) const {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

std::string TunableDeclaration::allowed_text() const { return join(allowed); }

std::vector<TunableDeclaration> parse_tunables(std::string_view kernel_text) {
  static const std::string guard = "#ifndef ";
  std::vector<TunableDeclaration> declarations;
  std::istringstream lines{std::string(kernel_text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(guard, 0) == 0) {
      const std::string name = line.substr(guard.size());
      std::getline(lines, line);
      declarations.push_back(parse_definition(name, line));
    }
  }
  return declarations;
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

}  // namespace duogemm
