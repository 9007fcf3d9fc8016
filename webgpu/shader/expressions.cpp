#include <algorithm>
#include <limits>

#include "shader/translator.h"

namespace duogemm::webgpu {
namespace {

// The dialect's functions of FP32, in WGSL's words.
const std::map<std::string, std::string> functions_of_reals = {
    {"fma", "fma"},   {"fabs", "abs"}, {"fmin", "min"}, {"fmax", "max"},
    {"sqrt", "sqrt"}, {"exp", "exp"},  {"log", "log"},  {"rsqrt", "inverseSqrt"}};

// The same place, as a pointer to vectors of another width.
Pointer retarget(Pointer pointer, int width) {
  pointer.offset = width > pointer.width ? pointer.offset.in_units_of(width / pointer.width)
                                         : (pointer.width / width) * pointer.offset;
  pointer.width = width;
  pointer.extents.clear();
  return pointer;
}

bool is_comparison(const std::string& sign) {
  static const std::set<std::string> comparisons = {"==", "!=", "<", "<=", ">", ">="};
  return comparisons.contains(sign);
}

}  // namespace

// --- What a value is ---------------------------------------------------------------------------------------

Integer Translator::integer(const Value& value) const {
  if (const auto* truth = std::get_if<Condition>(&value)) {
    return truth->known ? Integer(*truth->known) : Integer(Text{"select(0, 1, " + truth->text.text + ")"});
  }
  if (const auto* number = std::get_if<Integer>(&value)) {
    return *number;
  }
  refuse("something else where a whole number is wanted");
}

Condition Translator::truth(const Value& value) const {
  const auto* truth = std::get_if<Condition>(&value);
  return truth ? *truth : compare("!=", integer(value), 0);
}

Real Translator::real_of(const Value& value, int width) const {
  const auto* number = std::get_if<Integer>(&value);
  const auto* found = std::get_if<Real>(&value);
  if (!number && !found) {
    refuse("something else where a number of FP32 is wanted");
  }
  const Real made = number ? real(*number) : *found;
  if (made.width != width && made.width != 1) {
    refuse("a vector of " + std::to_string(made.width) + " where one of " + std::to_string(width) +
           " is wanted");
  }
  return splat(made, width);
}

Pointer Translator::pointer(const Value& value) const {
  if (const auto* found = std::get_if<Pointer>(&value)) {
    return *found;
  }
  refuse("something else where a pointer is wanted");
}

// An int that is a condition stays one, as which it is mostly used.
Value Translator::converted(const Value& value, const TypeName& type) const {
  if (type.pointer) {
    Pointer made = element_of(value);
    made.extents.clear();
    return made;
  }
  if (type.base == "bool") {
    return truth(value);
  }
  if (std::holds_alternative<Record>(value) ||
      (type.base == "int" && std::holds_alternative<Condition>(value))) {
    return value;
  }
  const int width = width_of(type);
  return width > 0 ? Value(real_of(value, width)) : Value(integer(value).as(integer_type_of(type)));
}

// vload4() and vstore4() take a pointer to floats.
Pointer Translator::float_pointer(const Value& value) const {
  Pointer found = element_of(value);
  if (found.width != 1) {
    refuse("a pointer to vectors where one to floats is wanted");
  }
  return found;
}

// An array of arrays would move by arrays, which offsets of elements do not tell.
Pointer Translator::element_of(const Value& value) const {
  Pointer found = pointer(value);
  if (found.extents.size() > 1) {
    refuse("an array of arrays as a pointer");
  }
  return found;
}

int Translator::constant(const Expression& expression) {
  const std::optional<std::int64_t> known = integer(evaluate(expression)).known();
  if (!known) {
    refuse("a number that must be a constant");
  }
  return static_cast<int>(*known);
}

const Symbol& Translator::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->find(name); found != scope->end()) {
      return found->second;
    }
  }
  refuse("the name " + name);
}

// --- Places ------------------------------------------------------------------------------------------------

Pointer Translator::index(const Expression& expression) {
  Pointer at = pointer(evaluate(expression.operands.front()));
  const Integer by = integer(evaluate(expression.operands.back()));
  std::int64_t stride = 1;
  for (std::size_t i = 1; i < at.extents.size(); ++i) {
    stride *= at.extents[i];
  }
  if (!at.extents.empty()) {
    at.extents.erase(at.extents.begin());
  }
  at.offset += stride * by;
  return at;
}

Pointer Translator::locate(const Expression& expression) {
  if (expression.kind == Expression::Kind::index) {
    return index(expression);
  }
  if (expression.kind == Expression::Kind::unary && expression.text == "*") {
    return element_of(evaluate(expression.operands.front()));
  }
  refuse("the address of what stands in registers, or an assignment to it");
}

// --- Expressions -------------------------------------------------------------------------------------------

Value Translator::evaluate(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::number:
      return number(expression.text);
    case Expression::Kind::name:
      return find(expression.text).value;
    case Expression::Kind::index: {
      const Pointer at = index(expression);
      return at.extents.empty() ? Value(load(at)) : Value(at);
    }
    case Expression::Kind::member:
      return member(expression);
    case Expression::Kind::call:
      return call(expression);
    case Expression::Kind::unary:
      return evaluate_unary(expression);
    case Expression::Kind::binary: {
      const Value left = evaluate(expression.operands.front());
      return evaluate_binary(expression.text, left, evaluate(expression.operands.back()));
    }
    case Expression::Kind::choose:
      return choose(expression);
    case Expression::Kind::cast:
      return cast(expression);
    case Expression::Kind::assign:
      break;
  }
  refuse("an assignment within an expression");
}

Value Translator::number(const std::string& text) const {
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (!is_hexadecimal && text.find_first_of(".eEfF") != std::string::npos) {
    const bool has_suffix = text.back() == 'f' || text.back() == 'F';
    const std::string digits = text.substr(0, text.size() - (has_suffix ? 1 : 0));
    if (digits.find_first_not_of("0123456789.eE+-") != std::string::npos) {
      refuse("the number " + text);
    }
    return Real{1, {{digits + (has_suffix ? "f" : "")}}};
  }
  std::size_t end = 0;
  const std::int64_t value = std::stoll(text, &end, 0);
  const std::string suffix = text.substr(end);
  if (suffix.find_first_not_of("uUlL") != std::string::npos) {
    refuse("the number " + text);
  }
  const bool is_decimal = text.front() != '0';
  const bool is_wide = value > std::numeric_limits<std::int32_t>::max();
  if (suffix.find_first_of("lL") != std::string::npos || value > std::numeric_limits<std::uint32_t>::max() ||
      (is_wide && is_decimal && suffix.empty())) {
    return Integer(value).as(Integer::Type::of_long);
  }
  return Integer(value).as(is_wide || !suffix.empty() ? Integer::Type::of_uint : Integer::Type::of_int);
}

Value Translator::evaluate_unary(const Expression& expression) {
  const Expression& operand = expression.operands.front();
  if (expression.text == "&") {
    return locate(operand);
  }
  Value value = evaluate(operand);
  if (expression.text == "*") {
    return load(element_of(value));
  }
  if (expression.text == "!") {
    return negated(truth(value));
  }
  if (expression.text == "+") {
    return value;
  }
  const auto* real = std::get_if<Real>(&value);
  return real ? Value(for_each_part({*real},
                                    [](const auto& parts) {
                                      return Text{"-" + inside(parts[0], 16), 15};
                                    }))
              : Value(Integer(0) - integer(value));
}

Value Translator::evaluate_binary(const std::string& sign, const Value& a, const Value& b) {
  if (std::holds_alternative<Pointer>(a)) {
    Pointer to = element_of(a);
    to.extents.clear();
    if (sign != "+" && sign != "-") {
      refuse("the operator " + sign + " of a pointer");
    }
    to.offset += (sign == "+" ? 1 : -1) * integer(b);
    return to;
  }
  if (sign == "&&") {
    return both(truth(a), truth(b));
  }
  if (sign == "||") {
    return either(truth(a), truth(b));
  }
  const bool of_reals = std::holds_alternative<Real>(a) || std::holds_alternative<Real>(b);
  return of_reals ? evaluate_reals(sign, a, b) : evaluate_integers(sign, integer(a), integer(b));
}

Value Translator::evaluate_integers(const std::string& sign, const Integer& a, const Integer& b) {
  if (is_comparison(sign)) {
    return compare(sign, a, b);
  }
  switch (sign.size() == 1 ? sign.front() : ' ') {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return product(a, b);
    case '/':
      return quotient(a, b);
    case '%':
      return remainder(a, b);
    default:
      refuse("the operator " + sign + " of whole numbers");
  }
}

// None of them is put into another order.
Value Translator::evaluate_reals(const std::string& sign, const Value& a, const Value& b) {
  const auto width = [](const Value& value) {
    const auto* real = std::get_if<Real>(&value);
    return real ? real->width : 1;
  };
  const int wide = std::max(width(a), width(b));
  const Real x = real_of(a, width(a));
  const Real y = real_of(b, width(b));
  if (is_comparison(sign) && wide == 1) {
    return Condition{{inside(x.parts[0], 8) + " " + sign + " " + inside(y.parts[0], 8), 6}};
  }
  if (sign != "+" && sign != "-" && sign != "*" && sign != "/") {
    refuse("the operator " + sign + " of numbers of FP32");
  }
  const int level = sign == "+" || sign == "-" ? 9 : 10;
  return for_each_part({x, y}, [&](const auto& parts) {
    return Text{inside(parts[0], level) + " " + sign + " " + inside(parts[1], level + 1), level};
  });
}

// WGSL evaluates both: a read beyond the end of a buffer is harmless there.
Value Translator::choose(const Expression& expression) {
  const Condition condition = truth(evaluate(expression.operands[0]));
  if (condition.known) {
    return evaluate(expression.operands[*condition.known ? 1 : 2]);
  }
  const Value yes = evaluate(expression.operands[1]);
  const Value no = evaluate(expression.operands[2]);
  const auto select = [&](const Text& one, const Text& other) {
    return Text{"select(" + other.text + ", " + one.text + ", " + condition.text.text + ")"};
  };
  if (const auto* real = std::get_if<Real>(&yes)) {
    return for_each_part({*real, real_of(no, real->width)},
                         [&](const auto& parts) { return select(parts[0], parts[1]); });
  }
  const Integer a = integer(yes);
  const Integer b = integer(no);
  return Integer(select(a.text(), b.text())).as(std::max(a.type(), b.type()));
}

Value Translator::cast(const Expression& expression) {
  const TypeName& type = expression.type;
  const Value value = evaluate(expression.operands.front());
  if (!type.pointer) {
    return converted(value, type);
  }
  if (width_of(type) == 0) {
    refuse("a pointer to " + type.base);
  }
  return retarget(pointer(value), width_of(type));
}

Value Translator::member(const Expression& expression) {
  const Value of = evaluate(expression.operands.front());
  const std::string& name = expression.text;
  if (const auto* record = std::get_if<Record>(&of)) {
    const auto found = std::ranges::find(*record->structure, name, &Member::name);
    if (found == record->structure->end()) {
      refuse("the member " + name);
    }
    const auto inner = program_.structures.find(found->type.base);
    if (inner != program_.structures.end()) {
      return Record{&inner->second, record->prefix + name + "_"};
    }
    const Text text{"numbers." + record->prefix + name};
    return width_of(found->type) == 1 ? Value(Real{1, {text}})
                                      : Value(Integer(text).as(integer_type_of(found->type)));
  }
  const auto* vector = std::get_if<Real>(&of);
  const std::size_t letter = name.size() == 1 ? std::string("xyzw").find(name) : std::string::npos;
  if (!vector || letter == std::string::npos || static_cast<int>(letter) >= vector->width) {
    refuse("the member " + name);
  }
  return component(*vector, static_cast<int>(letter));
}

// --- Calls -------------------------------------------------------------------------------------------------

Integer Translator::work_item(const std::string& function, int dimension) {
  static const std::map<std::string, std::string> builtins = {{"get_local_id", "local_id"},
                                                              {"get_group_id", "group_id"},
                                                              {"get_num_groups", "groups"},
                                                              {"get_global_id", "global_id"}};
  const auto builtin = builtins.find(function);
  if (dimension < 0 || dimension > 2 || (builtin == builtins.end() && function != "get_local_size")) {
    refuse("the function " + function + " of dimension " + std::to_string(dimension));
  }
  const int size = work_items_[static_cast<std::size_t>(dimension)];
  if (function == "get_local_size") {
    return size;
  }
  if (function == "get_local_id" && size == 1) {
    return 0;
  }
  builtins_.insert(builtin->second);
  return Integer(Text{"i32(" + builtin->second + "." + "xyz"[dimension] + ")"}).as(Integer::Type::of_long);
}

Value Translator::call(const Expression& expression) {
  const std::string& name = expression.text;
  const std::vector<Expression>& arguments = expression.operands;
  if (name.starts_with("get_") && arguments.size() == 1) {
    return work_item(name, constant(arguments.front()));
  }
  if (const auto found = program_.functions.find(name); found != program_.functions.end()) {
    return result_of(found->second, arguments);
  }
  std::vector<Value> values;
  for (const Expression& argument : arguments) {
    values.push_back(evaluate(argument));
  }
  if (const auto function = functions_of_reals.find(name); function != functions_of_reals.end()) {
    std::vector<Real> reals;
    for (const Value& value : values) {
      const auto* vector = std::get_if<Real>(&value);
      reals.push_back(real_of(value, vector ? vector->width : 1));
    }
    return for_each_part(reals, [&](const std::vector<Text>& parts) {
      std::string text;
      for (const Text& part : parts) {
        text += (text.empty() ? "" : ", ") + part.text;
      }
      return Text{function->second + "(" + text + ")"};
    });
  }
  if ((name == "min" || name == "max") && values.size() == 2) {
    const Integer a = integer(values[0]);
    const Integer b = integer(values[1]);
    if (std::max(a.type(), b.type()) == Integer::Type::of_uint) {
      refuse("the function " + name + " of uint");
    }
    return a.known() && b.known() ? (compare("<", a, b).known == (name == "min") ? a : b)
                                  : Integer(Text{name + "(" + a.text().text + ", " + b.text().text + ")"})
                                        .as(std::max(a.type(), b.type()));
  }
  if (const int width = width_of({"float" + name.substr(std::min<std::size_t>(5, name.size()))});
      name.starts_with("vload") && width > 1 && values.size() == 2) {
    Pointer from = float_pointer(values[1]);
    from.offset += width * integer(values[0]);
    return from.offset.divisor() % width == 0 ? load(retarget(from, width)) : load_vector(from, width);
  }
  if (name == "get_sub_group_local_id") {
    builtins_.insert("lane");
    return Integer(Text{"i32(lane)"});
  }
  if (name == "sub_group_shuffle" && values.size() == 2) {
    return Real{1,
                {{"subgroupShuffle(" + real_of(values[0], 1).parts.front().text + ", u32(" +
                  integer(values[1]).text().text + "))"}}};
  }
  refuse("the function " + name);
}

Value Translator::result_of(const Function& function, const std::vector<Expression>& arguments) {
  const Return* result =
      function.body.size() == 1 ? std::get_if<Return>(&function.body.front().what) : nullptr;
  if (!result || !result->value) {
    refuse("the function " + function.name + ", which has a result and is more than an expression");
  }
  const auto caller = std::exchange(scopes_, {scopes_.front(), bind(function, arguments)});
  Value value = converted(evaluate(*result->value), function.result);
  scopes_ = caller;
  return value;
}

}  // namespace duogemm::webgpu
