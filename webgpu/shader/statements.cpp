#include <algorithm>
#include <stdexcept>

#include "shader/translator.h"

namespace duogemm::webgpu {
namespace {

constexpr int most_trips = 4096;  // of a loop that is unrolled

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace

void Translator::run(const Block& block) {
  for (const Statement& statement : block) {
    run(statement);
  }
}

void Translator::run(const Statement& statement) {
  at_ = statement.at;
  try {
    std::visit(Overloaded{[&](const Block& block) { run_scoped(block); },
                          [&](const Declare& declaration) { declare(declaration); },
                          [&](const Evaluate& evaluate) { evaluate_for_effect(evaluate.expression); },
                          [&](const If& condition) { branch(condition); },
                          [&](const For& repeated) { loop(repeated); },
                          [&](const Return& end) {
                            if (inlined_ || end.value) {
                              refuse("a function that is compiled into its caller returns before its end");
                            }
                            writer_.line("return;");
                          }},
               statement.what);
  } catch (const std::logic_error& error) {  // of arithmetic, or of a number that is too large
    refuse(error.what());
  }
}

void Translator::run_scoped(const Block& block) {
  scopes_.emplace_back();
  writer_.open();
  run(block);
  writer_.close();
  scopes_.pop_back();
}

// The body of a condition or a loop has braces already.
void Translator::run_body(const Block& block) {
  scopes_.emplace_back();
  writer_.open();
  writer_.indent();
  run(block);
  writer_.outdent();
  writer_.close(true);
  scopes_.pop_back();
}

// --- Declarations ------------------------------------------------------------------------------------------

void Translator::declare(const Declare& declaration) {
  if (!declaration.extents.empty()) {
    declare_array(declaration);
    return;
  }
  const auto& [type, name, extents, value] = declaration;
  if (value) {
    const Symbol symbol = introduce(name, type, evaluate(*value));
    scopes_.back()[name] = symbol;
    return;
  }
  if (type.pointer) {
    refuse("the pointer " + name + " has no value where it is declared");
  }
  const int width = width_of(type);
  if (width == 0) {
    const std::string made = variable_name(name);
    const bool is_condition = type.base == "bool";
    writer_.declare("var " + made + (is_condition ? ": bool;" : ": i32;"));
    scopes_.back()[name] = {
        is_condition ? Value(Condition{{made}}) : Value(Integer(Text{made}).as(integer_type_of(type))), true};
    return;
  }
  Real made{width, {}};
  for (int part = 0; part < (width + 3) / 4; ++part) {
    made.parts.push_back({variable_name(width > 4 ? name + "_" + std::to_string(part) : name)});
    writer_.declare("var " + made.parts.back().text + ": " + type_name(width) + ";");
  }
  scopes_.back()[name] = {made, true};
}

void Translator::declare_array(const Declare& declaration) {
  const int width = width_of(declaration.type);
  if (width == 0 || declaration.value) {
    refuse("the array " + declaration.name + " is not of floats, or is declared with a value");
  }
  Pointer whole{{}, 0, width, {}};
  int count = 1;
  for (const Expression& extent : declaration.extents) {
    whole.extents.push_back(constant(extent));
    count *= whole.extents.back();
  }
  const bool is_local = declaration.type.space == Space::local;
  const int units = count * width / std::min(width, 4);
  uses_.resize(std::max(uses_.size(), declared_ + 1));
  whole.object = {is_local ? Object::Kind::local : Object::Kind::array, "", width, count, declared_++};
  if (is_local) {
    whole.object.name = writer_.module_name(declaration.name);
    locals_.push_back(whole.object);
  } else if (uses_[whole.object.uses].indexed) {
    whole.object.name = variable_name(declaration.name);
    writer_.declare("var " + whole.object.name + ": array<" + type_name(width) + ", " +
                    std::to_string(units) + ">;");
  } else {
    whole.object.name = writer_.array_name(declaration.name, units);
    for (int i = 0; i < units; ++i) {
      fixed_.erase(element(whole.object, i));
      writer_.declare("var " + element(whole.object, i) + ": " + type_name(width) + ";");
    }
  }
  scopes_.back()[declaration.name] = {whole};
}

// Names a value: by a variable if anything in the program assigns to such a name, and else by what the shader
// has already, or a constant.
Symbol Translator::introduce(const std::string& name, const TypeName& type, const Value& given) {
  const bool assignable = program_.assigned.contains(name);
  Value value = converted(given, type);
  if (assignable && type.base != "bool" && std::holds_alternative<Condition>(value)) {
    value = integer(value);
  }
  if (const auto* number = std::get_if<Integer>(&value)) {
    const bool is_fixed = number->known() || fixed_.contains(number->text().text);
    return !assignable && is_fixed
               ? Symbol{value}
               : Symbol{Integer(Text{let_or_var(name, number->text().text, assignable)}).as(number->type()),
                        assignable};
  }
  if (const auto* truth = std::get_if<Condition>(&value)) {
    return !assignable && truth->known
               ? Symbol{value}
               : Symbol{Condition{{let_or_var(name, truth->text.text, assignable)}}, assignable};
  }
  if (const auto* real = std::get_if<Real>(&value)) {
    return introduce_real(name, *real);
  }
  const auto* pointer = std::get_if<Pointer>(&value);
  return pointer ? introduce_pointer(name, *pointer) : Symbol{value};
}

Symbol Translator::introduce_real(const std::string& name, const Real& value) {
  Real made = value;
  const bool assignable = program_.assigned.contains(name);
  for (std::size_t i = 0; i < made.parts.size(); ++i) {
    Text& part = made.parts[i];
    if (assignable || !fixed_.contains(part.text)) {
      const std::string own = made.parts.size() == 1 ? name : name + "_" + std::to_string(i);
      part = {let_or_var(own, part.text, assignable)};
    }
  }
  return {made, assignable};
}

// The name of an offset is that of the pointer with `_at`, in units by which all of the offset can be
// divided.
Symbol Translator::introduce_pointer(const std::string& name, Pointer pointer) {
  if (program_.assigned.contains(name)) {
    pointer.offset = Integer(Text{let_or_var(name + "_at", pointer.offset.text().text, true)});
    return {pointer, true};
  }
  if (!pointer.offset.known()) {
    const std::int64_t unit = pointer.offset.divisor();
    const Integer offset = pointer.offset.in_units_of(unit);
    if (!fixed_.contains(offset.text().text)) {
      pointer.offset = unit * Integer(Text{let_or_var(name + "_at", offset.text().text, false)});
    }
  }
  return {pointer};
}

std::string Translator::let_or_var(const std::string& name, const std::string& text, bool variable) {
  std::string made = variable_name(name);
  writer_.declare((variable ? "var " : "let ") + made + " = " + text + ";");
  if (!variable) {
    fixed_.insert(made);
  }
  return made;
}

// The name may have been that of something fixed before.
std::string Translator::variable_name(const std::string& wanted) {
  std::string made = writer_.name(wanted);
  fixed_.erase(made);
  return made;
}

// --- Conditions and loops ----------------------------------------------------------------------------------

void Translator::branch(const If& statement) {
  const Condition condition = truth(evaluate(statement.condition));
  if (condition.known) {
    run_scoped(*condition.known ? statement.yes : statement.no);
    return;
  }
  writer_.line("if (" + condition.text.text + ") {");
  run_body(statement.yes);
  if (!statement.no.empty()) {
    writer_.line("} else {");
    run_body(statement.no);
  }
  writer_.line("}");
}

Integer Translator::step_of(const For& statement) {
  const Expression& step = statement.step;
  const bool counts = step.kind == Expression::Kind::assign && (step.text == "+=" || step.text == "-=") &&
                      step.operands.front().text == statement.variable.name;
  if (!counts) {
    refuse("a loop that does not count its variable up or down");
  }
  const Integer size = integer(evaluate(step.operands.back()));
  return step.text == "+=" ? size : -1 * size;
}

// A loop's condition and step are evaluated at each trip, but such lines would stand before the loop.
void Translator::refuse_lines_since(std::size_t lines) const {
  if (writer_.lines().size() != lines) {
    refuse("a loop whose condition or step takes more than an expression");
  }
}

void Translator::loop(const For& statement) {
  const TypeName& type = statement.variable.type;
  if (!statement.variable.value || type.pointer || width_of(type) > 0 || type.base == "bool") {
    refuse("a loop that does not count a whole number");
  }
  const Integer begin = integer(evaluate(*statement.variable.value)).as(integer_type_of(type));
  if (statement.unrolled && unroll(statement, begin)) {
    return;
  }
  scopes_.emplace_back();
  writer_.open();
  const std::string name = variable_name(statement.variable.name);
  scopes_.back()[statement.variable.name] = {Integer(Text{name}).as(begin.type())};
  const std::size_t lines = writer_.lines().size();
  const std::string condition = truth(evaluate(statement.condition)).text.text;
  const std::string step = step_of(statement).text().text;
  refuse_lines_since(lines);
  writer_.line("for (var " + name + ": i32 = " + begin.text().text + "; " + condition + "; " + name +
               " += " + step + ") {");
  run_body(statement.body);
  writer_.line("}");
  writer_.close(true);
  scopes_.pop_back();
}

// Writes the body once for each trip, and answers true, if their number is known.
bool Translator::unroll(const For& statement, const Integer& begin) {
  const std::string& name = statement.variable.name;
  const std::size_t lines = writer_.lines().size();
  std::vector<Integer> trips;
  for (Integer value = begin; value.known();) {
    scopes_.push_back({{name, {value}}});
    const std::optional<bool> goes_on = truth(evaluate(statement.condition)).known;
    const Integer step = step_of(statement);
    scopes_.pop_back();
    refuse_lines_since(lines);
    if (!goes_on || !step.known() || trips.size() > most_trips) {
      return false;
    }
    if (!*goes_on) {
      for (const Integer& trip : trips) {
        scopes_.push_back({{name, {trip}}});
        run_scoped(statement.body);
        scopes_.pop_back();
      }
      return true;
    }
    trips.push_back(value);
    value = (value + step).as(begin.type());
  }
  return false;
}

// --- What has an effect ------------------------------------------------------------------------------------

void Translator::evaluate_for_effect(const Expression& expression) {
  const std::string& name = expression.text;
  if (expression.kind == Expression::Kind::assign) {
    assign(expression);
  } else if (expression.kind != Expression::Kind::call) {
    refuse("an expression without effect");
  } else if (name == "barrier" && expression.operands.size() == 1) {
    barrier(expression.operands.front());
  } else if (const int width = width_of({"float" + name.substr(std::min<std::size_t>(6, name.size()))});
             name.starts_with("vstore") && width > 1 && expression.operands.size() == 3) {
    const Real value = real_of(evaluate(expression.operands[0]), width);
    Pointer to = float_pointer(evaluate(expression.operands[2]));
    to.offset += value.width * integer(evaluate(expression.operands[1]));
    store_vector(to, value);
  } else if (const auto found = program_.functions.find(name); found != program_.functions.end()) {
    inline_call(found->second, expression.operands);
  } else {
    refuse("the function " + name);
  }
}

// Each of WGSL's barriers orders one kind of memory, and waits for the whole work-group.
void Translator::barrier(const Expression& fences) {
  if (fences.kind == Expression::Kind::binary && fences.text == "|") {
    barrier(fences.operands.front());
    barrier(fences.operands.back());
  } else if (fences.text == "CLK_LOCAL_MEM_FENCE") {
    writer_.line("workgroupBarrier();");
  } else if (fences.text == "CLK_GLOBAL_MEM_FENCE") {
    writer_.line("storageBarrier();");
  } else {
    refuse("the barrier of " + fences.text);
  }
}

void Translator::assign(const Expression& expression) {
  const Expression& left = expression.operands.front();
  Value right = evaluate(expression.operands.back());
  const auto combined = [&](const Value& before) {
    return expression.text == "=" ? right : evaluate_binary(expression.text.substr(0, 1), before, right);
  };
  if (left.kind != Expression::Kind::name && left.kind != Expression::Kind::member) {
    const Pointer to = locate(left);
    store(to, real_of(expression.text == "=" ? right : combined(load(to)), to.width));
    return;
  }
  const Expression& variable = left.kind == Expression::Kind::member ? left.operands.front() : left;
  if (variable.kind != Expression::Kind::name || !find(variable.text).assignable) {
    refuse("an assignment to what is no variable");
  }
  const Value before = evaluate(left);
  const Value after = combined(before);
  if (const auto* number = std::get_if<Integer>(&before)) {
    writer_.line(number->text().text + " = " + integer(after).text().text + ";");
  } else if (const auto* was = std::get_if<Condition>(&before)) {
    writer_.line(was->text.text + " = " + truth(after).text.text + ";");
  } else if (const auto* from = std::get_if<Pointer>(&before)) {
    const Pointer to = pointer(after);
    if (to.object.uses != from->object.uses || to.width != from->width) {
      refuse("a pointer that changes what it points into");
    }
    writer_.line(from->offset.text().text + " = " + to.offset.text().text + ";");
  } else {
    const Real& real = std::get<Real>(before);
    const Real value = real_of(after, real.width);
    std::vector<std::string> places;
    for (const Text& part : real.parts) {
      places.push_back(part.text);
    }
    write_parts(places, value);
  }
}

std::map<std::string, Symbol> Translator::bind(const Function& function,
                                               const std::vector<Expression>& arguments) {
  if (arguments.size() != function.parameters.size()) {
    refuse("the function " + function.name + " has another number of arguments");
  }
  std::map<std::string, Symbol> bound;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& [type, name] = function.parameters[i];
    bound[name] = introduce(name, type, evaluate(arguments[i]));
  }
  return bound;
}

void Translator::inline_call(const Function& function, const std::vector<Expression>& arguments) {
  const Position at = at_;
  writer_.open();
  writer_.line("// " + function.name);
  const auto caller = std::exchange(scopes_, {scopes_.front(), bind(function, arguments)});
  const bool was_inlined = std::exchange(inlined_, true);
  run(function.body);
  inlined_ = was_inlined;
  scopes_ = caller;
  writer_.close();
  at_ = at;
}

}  // namespace duogemm::webgpu
