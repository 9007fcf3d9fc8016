// JSON from files, which anybody may have written or damaged.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace duogemm {

using Json = nlohmann::ordered_json;

// No file of ours is nested half as deep. What walks through a document calls itself for each level.
inline constexpr int deepest_json = 64;

// Throws invalid_argument, which says where the text is no JSON, or that it is nested deeper than that.
Json parse_json(std::string_view text);

// As text, of which what is beyond a line's length is left out.
std::string brief(const Json& value);

// Throw invalid_argument, naming the value and the range, unless it is a number in the range: for integers
// one without a fraction, which no conversion could change.
std::int64_t integer_of(const Json& value, const std::string& name,
                        std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                        std::int64_t most = std::numeric_limits<std::int64_t>::max());
double number_of(const Json& value, const std::string& name, double least, double most);

}  // namespace duogemm
