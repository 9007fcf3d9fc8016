#include "support/pattern.h"

#include <regex>

namespace duogemm::bench {

struct Pattern::Compiled {
  std::regex regex;
};

namespace {

std::vector<std::string> groups_of(const std::smatch& match) { return {match.begin(), match.end()}; }

}  // namespace

Pattern::Pattern(const char* text)
    : compiled_(std::make_shared<Compiled>(
          Compiled{std::regex(text, std::regex::ECMAScript | std::regex::optimize)})) {}

std::vector<std::string> Pattern::find(const std::string& text) const {
  std::smatch match;
  std::regex_search(text, match, compiled_->regex);
  return groups_of(match);
}

std::vector<std::string> Pattern::match(const std::string& text) const {
  std::smatch match;
  std::regex_match(text, match, compiled_->regex);
  return groups_of(match);
}

std::vector<std::vector<std::string>> Pattern::find_all(const std::string& text) const {
  std::vector<std::vector<std::string>> all;
  for (std::sregex_iterator match(text.begin(), text.end(), compiled_->regex), end; match != end; ++match) {
    all.push_back(groups_of(*match));
  }
  return all;
}

bool Pattern::is_in(const std::string& text) const { return std::regex_search(text, compiled_->regex); }

std::string Pattern::replace(const std::string& text, const std::string& by) const {
  return std::regex_replace(text, compiled_->regex, by);
}

}  // namespace duogemm::bench
