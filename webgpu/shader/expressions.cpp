#include <algorithm>
#include <cctype>

#include "shader/translator.h"

namespace duogemm::webgpu {
namespace {

// The dialect's functions of FP32, in WGSL's words.
const std::map<std::string, std::string> functions_of_reals = {
    {"fma", "fma"},   {"fabs", "abs"}, {"fmin", "min"}, {"fmax", "max"},
    {"sqrt", "sqrt"}, {"exp", "exp"},  {"log", "log"},  {"rsqrt", "inverseSqrt"}};

// The number at the end of "vload4".
int number_at_end(const std::string& name, std::size_t from) {
  const std::string digits = name.substr(std::min(from, name.size()));
  return !digits.empty() && std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; })
             ? std::stoi(digits)
             : 0;
}

// The same place, as a pointer to vectors of another width.
Pointer retarget(Pointer pointer, int width) {
  pointer.offset = width > pointer.width ? pointer.offset.in_units_of(width / pointer.width)
                                         : (pointer.width / width) * pointer.offset;
  pointer.width = width;
  pointer.extents.clear();
  return pointer;
}

bool is_comparison(const std::string& sign) {
  return sign == "==" || sign == "!=" || sign.front() == '<' || sign.front() == '>';
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

// A whole number that is a condition stays one, as which it is mostly used.
Value Translator::converted(const Value& value, const TypeName& type) const {
  if (type.pointer) {
    return pointer(value);
  }
  if (std::holds_alternative<Record>(value) || std::holds_alternative<Condition>(value)) {
    return value;
  }
  const int width = width_of(type);
  return width > 0 ? Value(real_of(value, width)) : Value(integer(value));
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
    return pointer(evaluate(expression.operands.front()));
  }
  refuse("the address of what stands in registers, or an assignment to it");
}

// --- Expressions -------------------------------------------------------------------------------------------

Value Translator::evaluate(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::number: {
      const std::string& text = expression.text;
      const bool is_hexadecimal = text.starts_with("0x");
      return !is_hexadecimal && text.find_first_of(".f") != std::string::npos
                 ? Value(Real{1, {{text}}})
                 : Value(Integer(std::stoll(text, nullptr, 0)));
    }
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

Value Translator::evaluate_unary(const Expression& expression) {
  const Expression& operand = expression.operands.front();
  if (expression.text == "&") {
    return locate(operand);
  }
  Value value = evaluate(operand);
  if (expression.text == "*") {
    return load(pointer(value));
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
                                      return Text{"-" + inside(parts[0], 15), 15};
                                    }))
              : Value(-1 * integer(value));
}

Value Translator::evaluate_binary(const std::string& sign, const Value& a, const Value& b) {
  if (const auto* from = std::get_if<Pointer>(&a)) {
    Pointer to = *from;
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
  if (is_comparison(sign) && sign != "<<" && sign != ">>") {
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
  return Integer(select(integer(yes).text(), integer(no).text()));
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
    return width_of(found->type) == 1 ? Value(Real{1, {text}}) : Value(Integer(text));
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
  return Integer(Text{"i32(" + builtin->second + "." + "xyz"[dimension] + ")"});
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
    return a.known() && b.known() ? (compare("<", a, b).known == (name == "min") ? a : b)
                                  : Integer(Text{name + "(" + a.text().text + ", " + b.text().text + ")"});
  }
  if (const int width = number_at_end(name, 5);
      name.starts_with("vload") && width > 0 && values.size() == 2) {
    Pointer from = retarget(pointer(values[1]), width);
    from.offset += integer(values[0]);
    return load(from);
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
  Value value = evaluate(*result->value);
  scopes_ = caller;
  return value;
}

}  // namespace duogemm::webgpu
