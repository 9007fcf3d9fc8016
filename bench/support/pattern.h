// Regular expressions in ECMAScript's grammar. The standard library's are templates, which take a compiler
// seconds wherever they are used: here that is one source.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace duogemm::bench {

class Pattern {
 public:
  // The text must be right: it is the program's own.
  Pattern(const char* text);

  // The first match and its groups, of which one that took no part is empty; nothing where there is none.
  std::vector<std::string> find(const std::string& text) const;
  // The same where all of the text matches.
  std::vector<std::string> match(const std::string& text) const;
  // All matches with their groups, one after the other.
  std::vector<std::vector<std::string>> find_all(const std::string& text) const;
  bool is_in(const std::string& text) const;
  // Puts `by` in the place of all matches, where $1 stands for the first group.
  std::string replace(const std::string& text, const std::string& by) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace duogemm::bench
