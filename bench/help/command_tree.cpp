#include <algorithm>
#include <sstream>

#include "help/pages.h"

namespace duogemm::bench {
namespace {

// Finds what is first between two marks; empty where they are not there.
std::string between(const std::string& text, const std::string& first, const std::string& last) {
  const std::size_t begin = text.find(first);
  const std::size_t end = begin == std::string::npos ? begin : text.find(last, begin);
  return end == std::string::npos ? "" : text.substr(begin + first.size(), end - begin - first.size());
}

// CLI11 tells of the values that are allowed by words only: "TEXT:{NN,NT}", "value in {none->0,local->1}".
std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  std::istringstream words(between(type, "{", "}"));
  for (std::string word; std::getline(words, word, ',');) {
    choices.push_back(word.substr(0, word.find("->")));
  }
  return choices;
}

ValueKind kind_of(const std::string& type, const std::vector<std::string>& choices) {
  const auto begins = [&](const char* with) { return type.rfind(with, 0) == 0; };
  return !choices.empty()                                     ? ValueKind::choice
         : begins("INT") || begins("UINT") || begins("FLOAT") ? ValueKind::number
                                                              : ValueKind::text;
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts{.names = {}, .description = option.get_description()};
  for (const std::string& name : option.get_snames()) {
    facts.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    facts.names.push_back("--" + name);
  }
  facts.positional = facts.names.empty();
  if (facts.positional) {
    facts.names.push_back(option.get_name());
  }
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    facts.choices = choices_of(type);
    facts.value = kind_of(type, facts.choices);
    facts.range = between(type, " in [", "]");
    facts.standard = option.get_default_str();
  }
  return facts;
}

}  // namespace

CommandFacts facts_of(const CLI::App& app) {
  CommandFacts facts{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) {
      facts.options.push_back(facts_of(*option));
    }
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    facts.commands.push_back(facts_of(*command));
  }
  return facts;
}

std::string by_value(const OptionFacts& option, const std::string& choice, const std::string& number,
                     const std::string& text) {
  return option.value == ValueKind::none     ? ""
         : option.value == ValueKind::choice ? choice
         : option.value == ValueKind::number ? number
                                             : text;
}

std::string escape(const std::string& text, const std::string& special, const std::string& before) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string::npos) {
      result += before;
    }
    result += c;
  }
  return result;
}

std::vector<std::string> option_names(const CommandFacts& command) {
  std::vector<std::string> names;
  for (const OptionFacts& option : command.options) {
    if (!option.positional) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  return names;
}

const OptionFacts* positional(const CommandFacts& command) {
  const auto found = std::find_if(command.options.begin(), command.options.end(),
                                  [](const OptionFacts& option) { return option.positional; });
  return found == command.options.end() ? nullptr : &*found;
}

}  // namespace duogemm::bench
