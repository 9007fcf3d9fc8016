#include "families/tunables.h"

#include <algorithm>
#include <charconv>
#include <optional>

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

// Reads "#define NAME 32  // meaning: 8 16 32". It does so by hand: streams and std::regex take milliseconds
// for a library's kernels.
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

// Takes a line from the front of a text, without its end.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

}  // namespace

bool TunableDeclaration::allows(int value) const {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

std::string TunableDeclaration::allowed_text() const { return join(allowed); }

std::vector<TunableDeclaration> parse_tunables(std::string_view kernel_text) {
  constexpr std::string_view guard = "#ifndef ";
  std::vector<TunableDeclaration> declarations;
  while (!kernel_text.empty()) {
    const std::string_view line = take_line(kernel_text);
    if (line.starts_with(guard)) {
      declarations.push_back(parse_definition(line.substr(guard.size()), take_line(kernel_text)));
    }
  }
  return declarations;
}

DeviceNeeds parse_needs(std::string_view kernel_text) {
  constexpr std::string_view start = "// device: ";
  constexpr std::string_view capability = "compute_capability ";
  DeviceNeeds needs;
  while (!kernel_text.empty()) {
    std::string_view rest = take_line(kernel_text);
    if (!rest.starts_with(start)) {
      continue;
    }
    rest.remove_prefix(start.size());
    while (!rest.empty()) {
      std::string_view need = rest.substr(0, rest.find(", "));
      rest.remove_prefix(std::min(need.size() + 2, rest.size()));
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

}  // namespace duogemm
