// Expressions of a kernel become whole numbers, of which the translator knows what it can, conditions, and
// numbers or vectors of FP32.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace duogemm::webgpu {

// A text of WGSL, with how tightly its loosest operator binds.
struct Text {
  std::string text;
  int level = 20;  // 20: nothing can come between

  bool operator==(const Text& other) const { return text == other.text; }
};

// Tells whether the text is a name, or a member of one.
bool is_name(const std::string& text);

// The text, in parentheses where an operator of this level would tear it apart.
std::string inside(const Text& text, int level);

// A whole number: a sum of terms, each a text times a number, and a number. So an offset in floats that is
// made of multiples of four becomes one in vectors, and what is constant is a number.
//
// All are i32 in WGSL: no matrix in a browser has more elements. A uint's bits are in an i32, too, and become
// a u32 where the sign counts.
class Integer {
 public:
  // They are in the order in which C converts one of two operands to the type of the other.
  enum class Type { of_int, of_uint, of_long };

  Integer(std::int64_t number = 0) : number_(number) {}
  explicit Integer(Text text) : terms_{{std::move(text), 1}} {}

  std::optional<std::int64_t> known() const;
  Text text() const;
  Type type() const { return type_; }
  Integer as(Type type) const;

  // The greatest number by which all terms can be divided; 0 for 0.
  std::int64_t divisor() const;
  // In units of n: exactly, if the whole is a multiple of n, as where a pointer becomes one to vectors.
  Integer in_units_of(std::int64_t n) const;

  Integer& operator+=(const Integer& other);
  friend Integer operator+(Integer a, const Integer& b) { return a += b; }
  friend Integer operator-(Integer a, const Integer& b) { return a += -1 * b; }
  friend Integer operator*(std::int64_t n, Integer a);

 private:
  std::vector<std::pair<Text, std::int64_t>> terms_;
  std::int64_t number_ = 0;
  Type type_ = Type::of_int;
};

// a * b, a / b and a % b as C has them. Throws std::domain_error where a number is divided by zero.
Integer product(const Integer& a, const Integer& b);
Integer quotient(const Integer& a, const Integer& b);
Integer remainder(const Integer& a, const Integer& b);

struct Condition {
  Text text;
  std::optional<bool> known = {};
};
Condition condition(bool known);
Condition compare(std::string_view sign, const Integer& a, const Integer& b);
Condition both(const Condition& a, const Condition& b);
Condition either(const Condition& a, const Condition& b);
Condition negated(const Condition& a);

// A number of FP32, or a vector of 2, 4, 8 or 16. WGSL's vectors end at 4: wider ones are several.
struct Real {
  int width = 1;
  std::vector<Text> parts;

  int part_width() const { return width < 4 ? width : 4; }
};
std::string type_name(int width);  // "vec4f"
Real real(const Integer& number);
// The number in each component.
Real splat(const Real& number, int width);
// The i-th component.
Real component(const Real& vector, int i);

// Makes of each part, or of the parts of several that stand at one place, the parts of the result. A number
// among vectors counts for each component.
template <typename Make>
Real for_each_part(const std::vector<Real>& values, const Make& make) {
  Real result = values.front();
  for (const Real& value : values) {
    result = value.width > result.width ? value : result;
  }
  for (std::size_t i = 0; i < result.parts.size(); ++i) {
    std::vector<Text> parts;
    for (const Real& value : values) {
      parts.push_back(value.width == 1 ? value.parts.front() : value.parts[i]);
    }
    result.parts[i] = make(parts);
  }
  return result;
}

}  // namespace duogemm::webgpu
