#include "runner/axis.h"

#include <charconv>
#include <optional>
#include <regex>
#include <sstream>

#include "duogemm/error.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t most_values = 1000;

[[noreturn]] void reject_axis(const std::string& text, const std::string& why) {
  throw Error(Status::invalid_argument, "--over " + text + ": " + why);
}

std::int64_t number(const std::string& digits, const std::string& text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || stop != digits.data() + digits.size()) {
    reject_axis(text, digits + " is not a number that fits");
  }
  return value;
}

std::vector<std::int64_t> listed(const std::string& values, const std::string& text) {
  std::vector<std::int64_t> result;
  std::istringstream parts(values);
  for (std::string part; std::getline(parts, part, ',');) {
    result.push_back(number(part, text));
  }
  return result;
}

std::vector<std::int64_t> ranged(std::int64_t from, std::int64_t to, std::int64_t step, bool factor,
                                 const std::string& text) {
  if (from > to || step < (factor ? 2 : 1) || (factor && from < 1)) {
    reject_axis(text, "a range goes up, by steps of at least 1 or a factor of at least 2");
  }
  std::vector<std::int64_t> result;
  for (std::int64_t value = from; value <= to; value = factor ? value * step : value + step) {
    if (result.size() == most_values) {
      reject_axis(text, "more than " + std::to_string(most_values) + " values");
    }
    result.push_back(value);
  }
  return result;
}

}  // namespace

bool Axis::is_size() const { return name == "m" || name == "n" || name == "k" || name == "size"; }

Axis parse_axis(const std::string& text) {
  static const std::regex list(R"((\w+)=(\d+(?:,\d+)*))");
  static const std::regex range(R"((\w+)=(\d+):(\d+)(?::(x?)(\d+))?)");
  std::smatch match;
  if (std::regex_match(text, match, list)) {
    return {match[1], listed(match[2], text)};
  }
  if (!std::regex_match(text, match, range)) {
    reject_axis(text, "expected NAME=FROM:TO, NAME=FROM:TO:STEP, NAME=FROM:TO:xFACTOR or NAME=VALUE,VALUE");
  }
  const std::int64_t step = match[5].matched ? number(match[5], text) : 1;
  return {match[1],
          ranged(number(match[2], text), number(match[3], text), step, match[4].length() > 0, text)};
}

}  // namespace duogemm::bench
