// The lines of a shader, and names that clash neither with each other nor with words of WGSL.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace duogemm::webgpu {

class Writer {
 public:
  void line(const std::string& text) { lines_.push_back(std::string(2 * depth_, ' ') + text); }
  // Writes "let name = value;" or "var name: f32;" into the block that is being written.
  void declare(const std::string& text);

  // Returns the name, or the name with a number where it is taken.
  std::string name(const std::string& wanted);
  // Does the same, and name_0 to name_{count - 1} belong to it, too.
  std::string array_name(const std::string& wanted, int count);
  // Does the same for the whole shader.
  std::string module_name(const std::string& wanted);

  void indent() { ++depth_; }
  void outdent() { --depth_; }

  // Names that are made until `close` are free again after it. What was written meanwhile stands in braces
  // if it declares something, unless it has some already.
  void open();
  void close(bool has_braces = false);

  const std::vector<std::string>& lines() const { return lines_; }

 private:
  struct Scope {
    std::set<std::string> names = {};
    std::size_t begin = 0;  // of its lines
    bool declares = false;
  };

  bool is_taken(const std::string& name) const;

  std::vector<std::string> lines_;
  std::vector<Scope> scopes_{{}};
  std::size_t depth_ = 1;
};

}  // namespace duogemm::webgpu
