#include "kernels/tunables.h"

#include <algorithm>
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

// Of "#define NAME 32  // meaning: 8 16 32". By hand: std::regex takes milliseconds for a library's kernels.
TunableDeclaration parse_definition(const std::string& name, const std::string& line) {
  const auto wrong = [&]() -> Error {
    return {Status::build_failed, "tunable " + name + ": expected '#define " + name +
                                      " <value>  // <meaning>: <allowed values>', found '" + line + "'"};
  };
  const std::string start = "#define " + name + " ";
  const std::size_t comment = line.find("// ");
  const std::size_t colon = line.rfind(": ");
  if (line.rfind(start, 0) != 0 || comment == std::string::npos || colon == std::string::npos ||
      colon < comment + 3) {
    throw wrong();
  }
  TunableDeclaration declaration{name, 0, line.substr(comment + 3, colon - comment - 3), {}};
  std::istringstream value(line.substr(start.size(), comment - start.size()));
  std::istringstream range(line.substr(colon + 2));
  for (int allowed; range >> allowed;) {
    declaration.allowed.push_back(allowed);
  }
  if (!(value >> declaration.standard) || !(value >> std::ws).eof() || !range.eof() ||
      declaration.allowed.empty()) {
    throw wrong();
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
