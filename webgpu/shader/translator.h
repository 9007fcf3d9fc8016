// One kernel, while it is translated.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "shader/translate.h"
#include "shader/value.h"
#include "shader/writer.h"
#include "source/syntax.h"

namespace duogemm::webgpu {

// Pointers point into an object.
struct Object {
  enum class Kind { buffer, local, array };
  Kind kind;
  std::string name;
  int width = 1;     // of its elements, in floats
  int count = 0;     // of its elements, but for a buffer
  std::size_t uses;  // which of the translator's uses_ are its own
};

// WGSL has to know how a kernel uses an object where the object is declared. So a kernel is translated twice,
// and the second pass knows what the first has seen.
struct Uses {
  std::set<int> widths = {};  // of accesses, in floats, 4 at most
  bool indexed = false;       // by what is no constant
  bool written = false;
};

struct Pointer {
  Object object;
  Integer offset;                 // in units of what is pointed to
  int width = 1;                  // of that, in floats
  std::vector<int> extents = {};  // of the array that it stands for; none where it is an element or a pointer
};

// A struct among a kernel's arguments, whose members are numbers.
struct Record {
  const Structure* structure;
  std::string prefix;  // of their names
};

using Value = std::variant<Integer, Condition, Real, Pointer, Record>;

struct Symbol {
  Value value;
  bool assignable = false;
};

class Translator {
 public:
  Translator(const Program& program, const Function& kernel, std::vector<Uses> uses);

  Shader shader();
  std::vector<Uses> uses() const { return uses_; }

 private:
  // --- The kernel's declaration (translator.cpp)
  void take_parameters();
  void add_numbers(const TypeName& type, const std::string& name);
  bool is_number_of_fp32(const TypeName& type, const std::string& name) const;
  std::string head() const;

  // --- Statements (statements.cpp)
  void run(const Block& block);
  void run(const Statement& statement);
  void run_scoped(const Block& block);
  void run_body(const Block& block);
  void declare(const Declare& declaration);
  void declare_array(const Declare& declaration);
  Symbol introduce(const std::string& name, const TypeName& type, const Value& given);
  Symbol introduce_pointer(const std::string& name, Pointer pointer);
  Symbol introduce_real(const std::string& name, const Real& value);
  std::string let_or_var(const std::string& name, const std::string& text, bool variable);
  std::string variable_name(const std::string& wanted);
  void branch(const If& statement);
  void loop(const For& statement);
  bool unroll(const For& statement, const Integer& begin);
  void refuse_lines_since(std::size_t lines) const;
  Integer step_of(const For& statement);
  void evaluate_for_effect(const Expression& expression);
  void barrier(const Expression& fences);
  void assign(const Expression& expression);
  void inline_call(const Function& function, const std::vector<Expression>& arguments);
  std::map<std::string, Symbol> bind(const Function& function, const std::vector<Expression>& arguments);

  // --- Expressions (expressions.cpp)
  Value evaluate(const Expression& expression);
  Value number(const std::string& text) const;
  Value evaluate_unary(const Expression& expression);
  Value evaluate_binary(const std::string& sign, const Value& a, const Value& b);
  Value evaluate_integers(const std::string& sign, const Integer& a, const Integer& b);
  Value evaluate_reals(const std::string& sign, const Value& a, const Value& b);
  Value choose(const Expression& expression);
  Value cast(const Expression& expression);
  Value member(const Expression& expression);
  Value call(const Expression& expression);
  Integer work_item(const std::string& function, int dimension);
  Value result_of(const Function& function, const std::vector<Expression>& arguments);
  Pointer locate(const Expression& expression);
  Pointer index(const Expression& expression);
  const Symbol& find(const std::string& name) const;
  int constant(const Expression& expression);

  // These say what a value is, where C converts it without a word.
  Integer integer(const Value& value) const;
  Condition truth(const Value& value) const;
  Real real_of(const Value& value, int width) const;
  Pointer pointer(const Value& value) const;
  Pointer element_of(const Value& value) const;
  Pointer float_pointer(const Value& value) const;
  Value converted(const Value& value, const TypeName& type) const;

  // --- Memory (memory.cpp)
  Real load(const Pointer& from);
  Real load_vector(const Pointer& first, int width);
  void store(const Pointer& to, const Real& value);
  void store_vector(const Pointer& first, const Real& value);
  std::string named(const Text& part);
  std::vector<std::string> names_of_parts(const Real& value);
  void write_parts(const std::vector<std::string>& places, const Real& value);
  int unit_of(const Object& object) const;
  void note_access(const Pointer& pointer, bool write);
  std::string element(const Object& object, const Integer& index);

  [[noreturn]] void refuse(const std::string& what) const { fail(at_, "not translated to WGSL: " + what); }

  const Program& program_;
  const Function& kernel_;
  std::vector<Uses> uses_;
  std::size_t declared_ = 0;  // objects so far
  Writer writer_;
  std::vector<std::map<std::string, Symbol>> scopes_{{}};
  std::array<int, 3> work_items_{};
  std::vector<Object> buffers_, locals_;
  std::vector<Shader::Number> numbers_;
  std::set<std::string> builtins_;  // those that the shader asks for
  std::set<std::string> fixed_;     // names of what does not change while they are known
  bool inlined_ = false;            // a function is being compiled into its caller
  Position at_;
};

// The width of "float4" is 4; that of what is no number of FP32 is 0.
int width_of(const TypeName& type);

// A size_t counts as a long, because no number of a work-item needs its highest bit.
Integer::Type integer_type_of(const TypeName& type);

}  // namespace duogemm::webgpu
