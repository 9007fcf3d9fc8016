#include "shader/value.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace duogemm::webgpu {
namespace {

// As WGSL ranks its operators; of the rest it wants operands in parentheses.
constexpr int compared = 8;
constexpr int added = 9;
constexpr int multiplied = 10;
constexpr int prefixed = 15;

std::int64_t known_divisor(const Integer& b) {
  if (b.known() == 0) {
    throw std::domain_error("a division by zero");
  }
  return b.known().value_or(0);
}

Text operation(const Integer& a, const char* sign, const Integer& b) {
  return {inside(a.text(), multiplied) + " " + sign + " " + inside(b.text(), multiplied + 1), multiplied};
}

Integer::Type common_type(const Integer& a, const Integer& b) { return std::max(a.type(), b.type()); }

bool is_unsigned(const Integer& a, const Integer& b) { return common_type(a, b) == Integer::Type::of_uint; }

std::string as_unsigned(const Integer& a) {
  return a.known() ? std::to_string(static_cast<std::uint32_t>(*a.known())) + "u"
                   : "u32(" + a.text().text + ")";
}

// Nothing is divided term by term, because a uint that is too large begins anew at 0.
Integer unsigned_operation(const Integer& a, const char* sign, const Integer& b) {
  if (!a.known() || !b.known()) {
    return Integer(Text{"i32(" + as_unsigned(a) + " " + sign + " " + as_unsigned(b) + ")"})
        .as(Integer::Type::of_uint);
  }
  const auto x = static_cast<std::uint32_t>(*a.known());
  const auto y = static_cast<std::uint32_t>(*b.known());
  return Integer(*sign == '/' ? x / y : x % y).as(Integer::Type::of_uint);
}

// `folded` answers what a division by a known number comes to, where that is known.
Integer divided(const Integer& a, const char* sign, const Integer& b,
                const std::function<std::optional<Integer>(std::int64_t n)>& folded) {
  const std::int64_t n = known_divisor(b);
  if (is_unsigned(a, b)) {
    return unsigned_operation(a, sign, b);
  }
  const std::optional<Integer> known = n == 0 ? std::nullopt : folded(n);
  return (known ? *known : Integer(operation(a, sign, b))).as(common_type(a, b));
}

}  // namespace

bool is_name(const std::string& text) {
  return std::ranges::all_of(text,
                             [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}

std::string inside(const Text& text, int level) {
  return text.level >= level ? text.text : "(" + text.text + ")";
}

// --- Whole numbers -----------------------------------------------------------------------------------------

std::optional<std::int64_t> Integer::known() const {
  return terms_.empty() ? std::optional(number_) : std::nullopt;
}

Text Integer::text() const {
  const std::int64_t number = type_ == Type::of_uint ? static_cast<std::int32_t>(number_) : number_;
  if (terms_.empty()) {
    return {std::to_string(number), number < 0 ? prefixed : 20};
  }
  if (terms_.size() == 1 && number == 0 && terms_.front().second == 1) {
    return terms_.front().first;
  }
  // What is added comes first, so that the text begins with no sign; the number last where there is a choice.
  std::vector<std::pair<std::string, std::int64_t>> summands;
  for (const auto& [term, factor] : terms_) {
    const std::int64_t size = std::abs(factor);
    const std::string product = inside(term, multiplied);
    summands.emplace_back(size == 1 ? product : product + " * " + std::to_string(size), factor);
  }
  if (number != 0) {
    summands.emplace_back(std::to_string(std::abs(number)), number);
  }
  std::stable_partition(summands.begin(), summands.end(),
                        [](const auto& summand) { return summand.second > 0; });
  std::string text;
  for (const auto& [summand, sign] : summands) {
    text += text.empty() ? (sign < 0 ? "-" : "") : (sign < 0 ? " - " : " + ");
    text += summand;
  }
  return {text, summands.size() == 1 && summands.front().second > 0 ? multiplied : added};
}

Integer Integer::as(Type type) const {
  Integer made = *this;
  made.type_ = type;
  if (known() && (type == Type::of_uint || (type == Type::of_long && type_ == Type::of_uint))) {
    made.number_ = static_cast<std::uint32_t>(number_);
  }
  return made;
}

std::int64_t Integer::divisor() const {
  std::int64_t result = number_;
  for (const auto& [term, factor] : terms_) {
    result = std::gcd(result, factor);
  }
  return std::abs(result);
}

Integer Integer::in_units_of(std::int64_t n) const {
  Integer whole(number_ % n == 0 ? number_ / n : 0);
  Integer rest(number_ % n == 0 ? 0 : number_);
  for (const auto& term : terms_) {
    Integer& to = term.second % n == 0 ? whole : rest;
    to.terms_.emplace_back(term.first, term.second % n == 0 ? term.second / n : term.second);
  }
  if (rest.known() && rest.known() != 0) {
    throw std::domain_error("a vector that does not begin at a multiple of its width");
  }
  return rest.known() ? whole : whole + quotient(rest, n);
}

Integer& Integer::operator+=(const Integer& other) {
  type_ = std::max(type_, other.type_);
  number_ += other.number_;
  for (const auto& term : other.terms_) {
    const auto same = std::ranges::find(terms_, term.first, [](const auto& own) { return own.first; });
    if (same == terms_.end()) {
      terms_.push_back(term);
    } else if ((same->second += term.second) == 0) {
      terms_.erase(same);
    }
  }
  return *this = as(type_);
}

Integer operator*(std::int64_t n, Integer a) {
  if (n == 0) {
    return Integer(0).as(a.type());
  }
  a.number_ *= n;
  for (auto& term : a.terms_) {
    term.second *= n;
  }
  return a;
}

Integer product(const Integer& a, const Integer& b) {
  const Integer::Type type = common_type(a, b);
  if (a.known()) {
    return (*a.known() * b).as(type);
  }
  if (b.known()) {
    return (*b.known() * a).as(type);
  }
  return Integer(operation(a, "*", b)).as(type);
}

Integer quotient(const Integer& a, const Integer& b) {
  return divided(a, "/", b, [&](std::int64_t n) {
    return a.known()              ? std::optional(Integer(*a.known() / n))
           : a.divisor() % n == 0 ? std::optional(a.in_units_of(n))
                                  : std::nullopt;
  });
}

Integer remainder(const Integer& a, const Integer& b) {
  return divided(a, "%", b, [&](std::int64_t n) {
    return a.known()              ? std::optional(Integer(*a.known() % n))
           : a.divisor() % n == 0 ? std::optional(Integer(0))
                                  : std::nullopt;
  });
}

// --- Conditions --------------------------------------------------------------------------------------------

Condition condition(bool known) { return {{known ? "true" : "false"}, known}; }

Condition compare(std::string_view sign, const Integer& a, const Integer& b) {
  const auto holds = [sign](std::int64_t x, std::int64_t y) {
    return sign == "=="   ? x == y
           : sign == "!=" ? x != y
           : sign == "<"  ? x < y
           : sign == ">"  ? x > y
           : sign == "<=" ? x <= y
                          : x >= y;
  };
  const bool without_sign = is_unsigned(a, b);
  if (a.known() && b.known()) {
    return condition(
        without_sign ? holds(static_cast<std::uint32_t>(*a.known()), static_cast<std::uint32_t>(*b.known()))
                     : holds(*a.known(), *b.known()));
  }
  if (without_sign) {
    return {{as_unsigned(a) + " " + std::string(sign) + " " + as_unsigned(b), 6}};
  }
  // No i32 reaches such a number.
  if (b.known() && *b.known() > std::numeric_limits<std::int32_t>::max()) {
    return condition(holds(0, *b.known()));
  }
  return {{inside(a.text(), compared) + " " + std::string(sign) + " " + inside(b.text(), compared), 6}};
}

Condition both(const Condition& a, const Condition& b) {
  if (a.known) {
    return *a.known ? b : a;
  }
  if (b.known) {
    return *b.known ? a : b;
  }
  return {{inside(a.text, 6) + " && " + inside(b.text, 6), 2}};
}

Condition either(const Condition& a, const Condition& b) {
  if (a.known) {
    return *a.known ? a : b;
  }
  if (b.known) {
    return *b.known ? b : a;
  }
  return {{inside(a.text, 6) + " || " + inside(b.text, 6), 1}};
}

Condition negated(const Condition& a) {
  return a.known ? condition(!*a.known) : Condition{{"!" + inside(a.text, prefixed), prefixed}};
}

// --- FP32 --------------------------------------------------------------------------------------------------

std::string type_name(int width) {
  return width == 1 ? "f32" : "vec" + std::to_string(std::min(width, 4)) + "f";
}

Real real(const Integer& number) {
  return {1,
          {number.known()
               ? Text{std::to_string(*number.known()) + ".0", number.text().level}
               : Text{"f32(" +
                      (number.type() == Integer::Type::of_uint ? as_unsigned(number) : number.text().text) +
                      ")"}}};
}

Real splat(const Real& number, int width) {
  if (width == number.width) {
    return number;
  }
  const std::size_t parts = width > 4 ? static_cast<std::size_t>(width / 4) : 1;
  return {width, std::vector<Text>(parts, {type_name(width) + "(" + number.parts.front().text + ")"})};
}

Real component(const Real& vector, int i) {
  const auto part = static_cast<std::size_t>(i / 4);
  return {1, {{inside(vector.parts.at(part), 20) + "." + "xyzw"[i % 4]}}};
}

}  // namespace duogemm::webgpu
