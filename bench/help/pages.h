// Pages made from the program's commands and options, as CLI11 has them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "support/format.h"

namespace duogemm::bench {

enum class ValueKind { none, choice, number, text };

struct OptionFacts {
  std::vector<std::string> names;  // "-o" and "--output"; of an argument without dashes, its title
  bool positional = false;
  ValueKind value = ValueKind::none;
  std::vector<std::string> choices = {};  // what the value may be, where it is one of a few
  std::string range = {};                 // "1 - 1024", of a number that is limited
  std::string standard = {};              // the value when it is not given, as far as CLI11 knows it
  std::string description;
};

struct CommandFacts {
  std::string name;
  std::string description;
  std::vector<OptionFacts> options;
  std::vector<CommandFacts> commands;
};

// Picks the text for what the option takes; nothing where it takes no value.
std::string by_value(const OptionFacts& option, const std::string& choice, const std::string& number,
                     const std::string& text);

// All but what is hidden from --help.
CommandFacts facts_of(const CLI::App& app);

// The text with `before` in front of each character that is one of `special`.
std::string escape(const std::string& text, const std::string& special, const std::string& before);

// Lists those of all its options.
std::vector<std::string> option_names(const CommandFacts& command);

// The option that it takes without dashes; null where it has none.
const OptionFacts* positional(const CommandFacts& command);

// The program's page for man, in roff with the macros of man(7).
std::string man_page(const CommandFacts& program, const std::string& version);

// Scripts by which shells complete the program's command lines.
std::string bash_completion(const CommandFacts& program);
std::string zsh_completion(const CommandFacts& program);
std::string fish_completion(const CommandFacts& program);

}  // namespace duogemm::bench
