#include "system/parse_json.h"

#include <algorithm>
#include <sstream>

#include "system/reject.h"

namespace duogemm {
namespace {

// Names the byte with this number, from 1: "line 3, column 7", or "column 7" in a text that is one line.
std::string place_of(std::size_t byte, std::string_view text) {
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column = before.size() - (last == std::string_view::npos ? 0 : last + 1) + 1;
  const bool one_line = text.find('\n') == std::string_view::npos;
  return (one_line ? "" : "line " + std::to_string(lines + 1) + ", ") + "column " + std::to_string(column);
}

bool fits(const Json& value) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= most);
}

[[noreturn]] void reject_value(const Json& value, const std::string& name, const std::string& allowed) {
  reject(name + " is " + brief(value) + "; it must be " + allowed);
}

}  // namespace

Json parse_json(std::string_view text) {
  const auto count_depth = [](int depth, Json::parse_event_t event, const Json&) {
    const bool begins =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (begins && depth >= deepest_json) {
      reject("this JSON is nested deeper than " + std::to_string(deepest_json) + " levels");
    }
    return true;
  };
  try {
    return Json::parse(text, count_depth);
  } catch (const Json::parse_error& error) {
    reject("this is no JSON from " + place_of(error.byte, text) + " on");
  } catch (const Json::out_of_range&) {
    reject("this JSON has a number that is too large");
  }
}

std::string brief(const Json& value) {
  constexpr std::size_t longest = 80;
  const std::string text = value.dump();
  return text.size() <= longest ? text : text.substr(0, longest) + "...";
}

std::int64_t integer_of(const Json& value, const std::string& name, std::int64_t least, std::int64_t most) {
  if (!fits(value) || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
    const bool any = least == std::numeric_limits<std::int64_t>::min();
    reject_value(value, name,
                 any ? "a whole number of 64 bits"
                     : "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value.get<std::int64_t>();
}

double number_of(const Json& value, const std::string& name, double least, double most) {
  if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most)) {
    std::ostringstream allowed;
    allowed << "a number from " << least << " to " << most;
    reject_value(value, name, allowed.str());
  }
  return value.get<double>();
}

}  // namespace duogemm
