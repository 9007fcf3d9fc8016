// Here is the tree of a kernel file, as far as the dialect goes.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace duogemm::webgpu {

struct Position {
  std::string file;
  int line = 0;
};

// Throws build_failed with "file:line: what".
[[noreturn]] void fail(const Position& at, const std::string& what);

enum class Space { none, global, local };

// A type has the base "float4", "int" or a struct's name; that of a pointer is what it points to.
struct TypeName {
  std::string base;
  Space space = Space::none;
  bool pointer = false;
};

struct Expression {
  enum class Kind { number, name, index, member, call, unary, binary, choose, cast, assign };
  Kind kind;
  std::string text;  // the number, name or operator
  std::vector<Expression> operands = {};
  TypeName type = {};  // of a cast
};

struct Statement;
using Block = std::vector<Statement>;

// A statement makes one declaration for each variable.
struct Declare {
  TypeName type;
  std::string name;
  std::vector<Expression> extents = {};  // of an array
  std::optional<Expression> value = {};
};
struct Evaluate {
  Expression expression;
};
struct If {
  Expression condition;
  Block yes, no;
};
struct For {
  Declare variable;
  Expression condition, step;
  Block body;
  bool unrolled = false;  // wholly, by `#pragma unroll`
};
struct Return {
  std::optional<Expression> value = {};
};
struct Statement {
  Position at;
  std::variant<Block, Declare, Evaluate, If, For, Return> what;
};

struct Member {
  TypeName type;
  std::string name;
};
using Structure = std::vector<Member>;

struct Function {
  Position at;
  std::string name;
  bool kernel = false;
  TypeName result = {};
  std::vector<Expression> work_group = {};  // of a kernel, in three dimensions
  std::vector<Member> parameters = {};
  Block body = {};
};

struct Program {
  std::map<std::string, Function> functions = {};
  std::map<std::string, Structure> structures = {};
  std::vector<std::pair<std::string, Expression>> constants = {};  // of enumerations
  std::set<std::string> assigned = {};  // names that anything but their declaration or their loop assigns to
};

}  // namespace duogemm::webgpu
