#include "source/parser.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace duogemm::webgpu {
namespace {

using Kind = Expression::Kind;
using Words = std::set<std::string, std::less<>>;

const Words type_names = {"float", "float2", "float4", "float8", "float16", "int",
                          "uint",  "long",   "size_t", "bool",   "void"};

// WGSL has no need of these words of a declaration.
const Words ignored_words = {"const", "static", "inline", "restrict", "volatile", "__kernel"};

// The level says how tightly an operator with two operands binds; what is none has 0.
int level_of(std::string_view sign) {
  static const std::map<std::string_view, int> levels = {
      {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
      {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
  const auto found = levels.find(sign);
  return found == levels.end() ? 0 : found->second;
}

Expression with(Kind kind, std::string text, std::vector<Expression> operands = {}) {
  return {kind, std::move(text), std::move(operands)};
}

class Parser {
 public:
  explicit Parser(const std::vector<Token>& tokens) : tokens_(tokens) {}

  Program program() {
    while (token().kind != Token::Kind::end) {
      if (take("typedef")) {
        if (take("struct")) {
          structure();
        } else {
          alias();
        }
      } else if (take("enum")) {
        enumeration();
      } else {
        function();
      }
    }
    return std::move(program_);
  }

 private:
  // --- Tokens ----------------------------------------------------------------------------------------------

  const Token& token(std::size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  bool sees(std::string_view text, std::size_t ahead = 0) const { return token(ahead).text == text; }
  bool take(std::string_view text) {
    const bool seen = sees(text);
    next_ += seen ? 1 : 0;
    return seen;
  }
  void need(std::string_view text) {
    if (!take(text)) {
      unexpected("'" + std::string(text) + "'");
    }
  }
  std::string take_name() {
    if (token().kind != Token::Kind::name) {
      unexpected("a name");
    }
    return tokens_[next_++].text;
  }
  [[noreturn]] void unexpected(const std::string& wanted) const {
    fail(token().at, "'" + token().text + "' where " + wanted + " was expected");
  }

  // --- Declarations ----------------------------------------------------------------------------------------

  bool sees_type(std::size_t ahead = 0) const {
    const std::string& word = token(ahead).text;
    return word.starts_with("__") || type_names.contains(word) || ignored_words.contains(word) ||
           program_.structures.contains(word) || aliases_.contains(word);
  }

  // Skips attributes, but keeps the size of a work-group.
  void attributes(std::vector<Expression>& work_group) {
    while (take("__attribute__")) {
      need("(");
      need("(");
      const std::string name = take_name();
      std::vector<Expression> values;
      if (take("(")) {
        values = arguments();
      }
      if (name == "reqd_work_group_size") {
        work_group = values;
      }
      need(")");
      need(")");
    }
  }

  // Before a name stands its type, with all words that say more of it.
  TypeName type(std::vector<Expression>* work_group = nullptr, bool* kernel = nullptr) {
    TypeName found;
    std::vector<Expression> ignored;
    for (;;) {
      if (sees("__attribute__")) {
        attributes(work_group ? *work_group : ignored);
      } else if (take("__global")) {
        found.space = Space::global;
      } else if (take("__local")) {
        found.space = Space::local;
      } else if (take("*")) {
        found.pointer = true;
      } else if (ignored_words.contains(token().text)) {
        if (kernel) {
          *kernel = *kernel || sees("__kernel");
        }
        ++next_;
      } else if (found.base.empty() &&
                 (type_names.contains(token().text) || program_.structures.contains(token().text))) {
        found.base = take_name();
      } else if (found.base.empty() && aliases_.contains(token().text)) {
        found.base = aliases_.at(take_name());
      } else if (found.base.empty()) {
        unexpected("a type");
      } else {
        return found;
      }
    }
  }

  // Another name of a type that there is.
  void alias() {
    const std::string named = type().base;
    aliases_[take_name()] = named;
    need(";");
  }

  void structure() {
    need("{");
    Structure members;
    while (!take("}")) {
      const TypeName shared = type();
      do {
        members.push_back({shared, take_name()});
      } while (take(","));
      need(";");
    }
    program_.structures[take_name()] = members;
    need(";");
  }

  void enumeration() {
    need("{");
    while (!take("}")) {
      std::string name = take_name();
      need("=");
      program_.constants.emplace_back(std::move(name), conditional());
      take(",");
    }
    need(";");
  }

  void function() {
    Function made{token().at, "", false};
    made.result = type(&made.work_group, &made.kernel);
    made.name = take_name();
    need("(");
    while (!take(")")) {
      const TypeName of = type();
      made.parameters.push_back({of, take_name()});
      take(",");
    }
    made.body = block();
    program_.functions[made.name] = std::move(made);
  }

  void declarations(Block& to) {
    const Position at = token().at;
    const TypeName shared = type();
    do {
      Declare one{shared, take_name()};
      while (take("[")) {
        one.extents.push_back(expression());
        need("]");
      }
      std::vector<Expression> ignored;
      attributes(ignored);
      if (take("=")) {
        one.value = expression();
      }
      to.push_back({at, std::move(one)});
    } while (take(","));
    need(";");
  }

  // --- Statements ------------------------------------------------------------------------------------------

  Block block() {
    need("{");
    Block made;
    while (!take("}")) {
      statement(made);
    }
    return made;
  }

  // A condition or a loop governs a block or one statement.
  Block body() {
    Block made;
    if (sees("{")) {
      return block();
    }
    statement(made);
    return made;
  }

  void statement(Block& to) {
    const Position at = token().at;
    if (token().kind == Token::Kind::unroll) {
      const bool wholly = tokens_[next_++].text.empty();
      if (!take("for")) {
        unexpected("a loop after #pragma unroll");
      }
      to.push_back({at, loop(wholly)});
    } else if (sees("{")) {
      to.push_back({at, block()});
    } else if (take("if")) {
      need("(");
      If made{expression(), {}, {}};
      need(")");
      made.yes = body();
      if (take("else")) {
        made.no = body();
      }
      to.push_back({at, std::move(made)});
    } else if (take("for")) {
      to.push_back({at, loop(false)});
    } else if (take("do")) {  // as macros have it
      to.push_back({at, block()});
      for (const char* each : {"while", "(", "0", ")", ";"}) {
        need(each);
      }
    } else if (take("return")) {
      Return made;
      if (!sees(";")) {
        made.value = expression();
      }
      need(";");
      to.push_back({at, std::move(made)});
    } else if (sees_type()) {
      declarations(to);
    } else if (!take(";")) {
      to.push_back({at, Evaluate{expression()}});
      need(";");
    }
  }

  For loop(bool unrolled) {
    need("(");
    Block first;
    declarations(first);
    if (first.size() != 1) {
      unexpected("a loop over one variable");
    }
    For made{std::get<Declare>(first.front().what), expression(), {}, {}, unrolled};
    need(";");
    in_step_ = true;
    made.step = expression();
    in_step_ = false;
    need(")");
    made.body = body();
    return made;
  }

  // --- Expressions -----------------------------------------------------------------------------------------

  Expression assign(std::string sign, Expression to, Expression value) {
    const Expression* variable = &to;
    while (variable->kind == Kind::member) {
      variable = &variable->operands.front();
    }
    if (variable->kind == Kind::name && !in_step_) {
      program_.assigned.insert(variable->text);
    }
    return with(Kind::assign, std::move(sign), {std::move(to), std::move(value)});
  }

  Expression expression() {
    Expression left = conditional();
    for (const char* sign : {"=", "+=", "-=", "*=", "/="}) {
      if (take(sign)) {
        return assign(sign, std::move(left), expression());
      }
    }
    return left;
  }

  Expression conditional() {
    Expression condition = binary(1);
    if (!take("?")) {
      return condition;
    }
    Expression yes = expression();
    need(":");
    return with(Kind::choose, "?", {std::move(condition), std::move(yes), conditional()});
  }

  Expression binary(int level) {
    Expression left = unary();
    while (level_of(token().text) >= level) {
      const std::string sign = tokens_[next_++].text;
      left = with(Kind::binary, sign, {std::move(left), binary(level_of(sign) + 1)});
    }
    return left;
  }

  Expression unary() {
    for (const char* sign : {"-", "+", "!", "*", "&"}) {
      if (take(sign)) {
        return with(Kind::unary, sign, {unary()});
      }
    }
    for (const char* sign : {"++", "--"}) {
      if (take(sign)) {
        return assign(sign[0] == '+' ? "+=" : "-=", unary(), with(Kind::number, "1"));
      }
    }
    if (sees("(") && sees_type(1)) {
      need("(");
      Expression made = with(Kind::cast, "");
      made.type = type();
      need(")");
      made.operands.push_back(unary());
      return made;
    }
    return postfix();
  }

  std::vector<Expression> arguments() {
    std::vector<Expression> made;
    while (!take(")")) {
      made.push_back(expression());
      if (!sees(")")) {
        need(",");
      }
    }
    return made;
  }

  Expression postfix() {
    Expression made = primary();
    for (;;) {
      if (made.kind == Kind::name && take("(")) {
        made = with(Kind::call, made.text, arguments());
      } else if (take("[")) {
        made = with(Kind::index, "[]", {std::move(made), expression()});
        need("]");
      } else if (take(".")) {
        made = with(Kind::member, take_name(), {std::move(made)});
      } else if (take("++")) {
        made = assign("+=", std::move(made), with(Kind::number, "1"));
      } else {
        return made;
      }
    }
  }

  Expression primary() {
    if (take("(")) {
      Expression made = expression();
      need(")");
      return made;
    }
    if (token().kind == Token::Kind::number) {
      return with(Kind::number, tokens_[next_++].text);
    }
    if (token().kind == Token::Kind::name) {
      return with(Kind::name, take_name());
    }
    unexpected("an expression");
  }

  const std::vector<Token>& tokens_;
  std::size_t next_ = 0;
  bool in_step_ = false;  // of a loop, which assigns to the loop's own variable
  Program program_;
  std::map<std::string, std::string> aliases_;  // and the types that they name
};

}  // namespace

Program parse(const std::vector<Token>& tokens) { return Parser(tokens).program(); }

}  // namespace duogemm::webgpu
