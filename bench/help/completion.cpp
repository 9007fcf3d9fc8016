#include <algorithm>

#include "help/pages.h"

namespace duogemm::bench {
namespace {

// Within single quotes of a shell that ends them, writes a quote, and begins them anew.
std::string quoted(const std::string& text) { return "'" + escape(text, "'", "'\\'") + "'"; }

// --- Bash ------------------------------------------------------------------------------------------------

// The words after an option with a value, by "command option".
std::string bash_values(const CommandFacts& command) {
  std::string text;
  for (const OptionFacts& option : command.options) {
    if (option.positional || option.value == ValueKind::none) {
      continue;
    }
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back("\"" + command.name + " " + name + "\"");
    }
    text += "    " + join(patterns, " | ") + ") " +
            by_value(option, "words=\"" + join(option.choices, " ") + "\"", "return", "files=1") + " ;;\n";
  }
  return text;
}

std::string bash_options(const CommandFacts& command) {
  std::vector<std::string> words = option_names(command);
  const OptionFacts* argument = positional(command);
  const bool takes_files = argument != nullptr && argument->choices.empty();
  if (argument != nullptr) {
    words.insert(words.end(), argument->choices.begin(), argument->choices.end());
  }
  return "        " + command.name + ") words=\"" + join(words, " ") + "\"" +
         (takes_files ? "; [[ $word == -* ]] || files=1" : "") + " ;;\n";
}

// --- Zsh -------------------------------------------------------------------------------------------------

std::string zsh_value(const OptionFacts& option) {
  return by_value(option, ":value:(" + join(option.choices, " ") + ")", ":number: ", ":text:_files");
}

std::string zsh_arguments(const CommandFacts& command) {
  std::string text;
  for (const OptionFacts& option : command.options) {
    for (const std::string& name : option.names) {
      const std::string title =
          option.positional ? "*" : name + "[" + escape(option.description, "[]:\\", "\\") + "]";
      text += " \\\n        " + quoted(title + zsh_value(option));
    }
  }
  return text;
}

// --- Fish ------------------------------------------------------------------------------------------------

std::string fish_quoted(const std::string& text) { return "'" + escape(text, "'\\", "\\") + "'"; }

std::string fish_value(const OptionFacts& option) {
  return by_value(option, " -x -a " + fish_quoted(join(option.choices, " ")), " -x", " -r -F");
}

// `where`: the condition under which these options are offered.
std::string fish_options(const std::string& program, const CommandFacts& command, const std::string& where) {
  std::string text;
  for (const OptionFacts& option : command.options) {
    text += "complete -c " + program + " -n " + where;
    for (const std::string& name : option.names) {
      text += option.positional ? "" : name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    text += fish_value(option) + " -d " + fish_quoted(option.description) + "\n";
  }
  return text;
}

}  // namespace

std::string bash_completion(const CommandFacts& program) {
  std::string values;
  std::string options;
  for (const CommandFacts& command : program.commands) {
    values += bash_values(command);
    options += bash_options(command);
  }
  // "--backend=cuda" are three words to bash. Of a list with commas, the last word is completed.
  return "# Completes " + program.name + " in bash. Made by: " + program.name + R"( completion bash
_duogemm() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= words= files=
  if [[ $word == "=" ]]; then
    word=
  elif [[ $before == "=" ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  ((COMP_CWORD < 2)) || command=${COMP_WORDS[1]}
  COMPREPLY=()
  case "$command $before" in
)" + values +
         R"(    *)
      case $command in
        "") words=")" +
         join(program.commands, " ", &CommandFacts::name) + " " + join(option_names(program), " ") +
         "\" ;;\n" + options +
         R"(      esac
      ;;
  esac
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -P "${word%"${word##*,}"}" -W "$words" -- "${word##*,}")
  fi
}
complete -F _duogemm )" +
         program.name + "\n";
}

std::string zsh_completion(const CommandFacts& program) {
  std::string described;
  std::string cases;
  for (const CommandFacts& command : program.commands) {
    described += "    " + quoted(command.name + ":" + command.description) + "\n";
    cases += "    " + command.name + ")\n      _arguments" + zsh_arguments(command) + "\n      ;;\n";
  }
  return "#compdef " + program.name + "\n# Completes " + program.name + " in zsh. Made by: " + program.name +
         R"( completion zsh
_duogemm() {
  local -a commands
  commands=(
)" + described +
         R"(  )
  if ((CURRENT == 2)); then
    _describe -t commands command commands
    _arguments)" +
         zsh_arguments(program) + R"(
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
)" + cases +
         R"(  esac
}
if [[ $funcstack[1] == _duogemm ]]; then
  _duogemm "$@"
else
  compdef _duogemm )" +
         program.name + "\nfi\n";
}

std::string fish_completion(const CommandFacts& program) {
  const std::string& name = program.name;
  std::string text = "# Completes " + name + " in fish. Made by: " + name + " completion fish\n";
  text += "complete -c " + name + " -f\n";
  text += fish_options(name, program, "__fish_use_subcommand");
  for (const CommandFacts& command : program.commands) {
    text += "complete -c " + name + " -n __fish_use_subcommand -a " + command.name + " -d " +
            fish_quoted(command.description) + "\n";
    text += fish_options(name, command, "'__fish_seen_subcommand_from " + command.name + "'");
  }
  return text;
}

}  // namespace duogemm::bench
