#include "help/pages.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "rungs/rungs.h"
#include "support/format.h"
#include "support/pattern.h"
#include "support/shapes.h"

namespace duogemm::bench {
namespace {

// An option that --help shows.
struct Option {
  std::vector<std::string> names = {};  // "-o" and "--output"; of an argument without dashes, its title
  bool positional = false;
  bool takes_value = false;
  std::string type = {};                  // of the value, as CLI11 has it
  std::vector<std::string> choices = {};  // what the value may be, where it is one of a few
  std::vector<std::string> offers = {};   // what a shell offers: these choices, or what else is known
  bool or_file = false;                   // besides these
  std::string asked = {};                 // a command that prints what it may be on this machine
  std::string standard = {};              // the value when it is not given, as far as CLI11 knows it
  std::string description;

  // Picks the text for what the option takes; nothing where it takes no value.
  std::string by_value(const std::string& choice, const std::string& number, const std::string& text) const {
    const bool is_number = type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT");
    return !takes_value ? "" : !offers.empty() || !asked.empty() ? choice : is_number ? number : text;
  }
  bool has(const std::string& name) const { return std::ranges::count(names, name) > 0; }
};

// Adds values that --help does not list. Lists of shapes may also be files.
void add_offers(Option& option) {
  option.offers = option.choices;
  if (option.has("--kernels") || option.has("--kernel")) {
    for (const Rung& rung : rungs()) {
      option.offers.push_back(rung.name);
    }
  } else if (option.has("--shapes") || option.has("--held-out")) {
    option.offers = shipped_shapes();
    option.or_file = true;
  } else if (option.has("--device")) {
    option.asked = "duogemm devices --names 2>/dev/null";
  }
}

// Finds what is first between two marks; empty where they are not there.
std::string between(const std::string& text, const std::string& first, const std::string& last) {
  const std::size_t begin = text.find(first);
  const std::size_t end = begin == std::string::npos ? begin : text.find(last, begin + first.size());
  return end == std::string::npos ? "" : text.substr(begin + first.size(), end - begin - first.size());
}

std::vector<Option> options_of(const CLI::App& command) {
  std::vector<Option> options;
  for (const CLI::Option* each :
       command.get_options([](const CLI::Option* option) { return !option->get_group().empty(); })) {
    Option& option = options.emplace_back(Option{.description = each->get_description()});
    for (const std::string& name : each->get_snames()) {
      option.names.push_back("-" + name);
    }
    for (const std::string& name : each->get_lnames()) {
      option.names.push_back("--" + name);
    }
    option.positional = option.names.empty();
    if (option.positional) {
      option.names.push_back(each->get_name());
    }
    option.takes_value = each->get_items_expected_max() > 0;
    if (option.takes_value) {
      option.type = each->get_type_name();
      option.standard = each->get_default_str();
    }
    // CLI11 tells of the values that are allowed by words only: "TEXT:{NN,NT}".
    if (const std::string words = between(option.type, "{", "}"); !words.empty()) {
      option.choices = CLI::detail::split(words, ',');
    }
    add_offers(option);
  }
  return options;
}

// The text with `before` in front of each character that is one of `special`.
std::string escape(const std::string& text, const std::string& special, const std::string& before) {
  std::string result;
  for (const char c : text) {
    result += special.find(c) == std::string::npos ? "" : before;
    result += c;
  }
  return result;
}

// --- For man -----------------------------------------------------------------------------------------------

// A text that roff takes as it is. A hyphen would become another character, which cannot be copied to a
// shell.
std::string escaped(const std::string& text) {
  const std::string result = escape(text, "-\\", "\\");
  return result.find_first_of(".'") == 0 ? "\\&" + result : result;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string options_text(const CLI::App& command) {
  std::string text;
  for (const Option& option : options_of(command)) {
    const std::string choices = escape(escaped(join(option.choices, "|")), "|", "\\:");  // may break there
    text += ".TP\n";
    text += option.positional
                ? italic(option.names.front())
                : join(option.names, ", ", bold) +
                      (!choices.empty() ? " \\fI" + choices + "\\fR"
                                        : option.by_value(" " + italic("text"), " " + italic("number"),
                                                          " " + italic("text")));
    text += "\n" + escaped(option.description) + ".\n";
    if (const std::string range = between(option.type, " in [", "]"); !range.empty()) {
      text += "Allowed: " + escaped(range) + ".\n";
    }
    if (!option.standard.empty()) {
      text += "Default: " + escaped(option.standard) + ".\n";
    }
  }
  return text;
}

// Markdown in roff: `code` is bold, and of a link there are its words.
std::string roff_of(const std::string& markdown) {
  static const Pattern link("\\[([^\\]]*)\\]\\([^)]*\\)");
  std::string text;
  bool is_code = false;
  for (const std::string& part : CLI::detail::split(link.replace(markdown, "$1"), '`')) {
    text += is_code ? bold(part) : escaped(part);
    is_code = !is_code;
  }
  return text;
}

// The variables as docs/api.md lists them, "- `NAME`: what it says", the last of its sections.
std::string environment_text() {
  const std::string document(documents().front().text);
  std::istringstream section(document.substr(document.find("\n## Environment variables\n")));
  std::string text;
  for (std::string line; std::getline(section, line);) {
    const std::string name = line.starts_with("- `") ? between(line, "`", "`") : "";
    if (!name.empty()) {
      text += ".TP\n" + bold(name) + "\n" + roff_of(line.substr(line.find(": ") + 2)) + "\n";
    } else if (!text.empty() && !line.empty()) {
      text += roff_of(line.substr(line.find_first_not_of(' '))) + "\n";
    }
  }
  return text;
}

// Each with what it is.
std::string list_text(const std::vector<std::pair<std::string, std::string>>& list) {
  return join(list, "", [](const auto& each) {
    return ".TP\n" + bold(each.first) + "\n" + escaped(each.second) + ".\n";
  });
}

// --- Bash ------------------------------------------------------------------------------------------------

// All that may stand there but an option's value.
std::string bash_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const Option& option : options_of(command)) {
    const std::vector<std::string>& offered = option.positional ? option.choices : option.names;
    words.insert(words.end(), offered.begin(), offered.end());
  }
  return join(words, " ");
}

std::string bash_completion(const CLI::App& program) {
  std::string values;  // the words after an option with a value, by "command option"
  std::string options;
  for (const CLI::App* command : program.get_subcommands({})) {
    const std::string& name = command->get_name();
    bool takes_files = false;
    for (const Option& option : options_of(*command)) {
      takes_files = takes_files || (option.positional && option.choices.empty());
      if (!option.positional && option.takes_value) {
        const std::string patterns = join(
            option.names, " | ", [&](const std::string& each) { return "\"" + name + " " + each + "\""; });
        const std::string words =
            "words=\"" + (option.asked.empty() ? join(option.offers, " ") : "$(" + option.asked + ")") +
            "\"" + (option.or_file ? " files=1" : "");
        values += "    " + patterns + ") " + option.by_value(words, "return", "files=1") + " ;;\n";
      }
    }
    options += "        " + name + ") words=\"" + bash_words(*command) + "\"" +
               (takes_files ? "; [[ $word == -* ]] || files=1" : "") + " ;;\n";
  }
  // "--backend=cuda" are three words to bash. Of a list with commas, the last word is completed.
  return R"(_duogemm() {
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
         join(program.get_subcommands({}), " ", [](const CLI::App* each) { return each->get_name(); }) + " " +
         bash_words(program) + "\" ;;\n" + options +
         R"(      esac
      ;;
  esac
  [[ -z $files ]] || compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -P "${word%"${word##*,}"}" -W "$words" -- "${word##*,}"
                           [[ -z $files ]] || compgen -f -- "$word")
}
complete -F _duogemm )" +
         program.get_name() + "\n";
}

// --- Zsh -------------------------------------------------------------------------------------------------

// Within single quotes of a shell that ends them, writes a quote, and begins them anew.
std::string quoted(const std::string& text) { return "'" + escape(text, "'", "'\\'") + "'"; }

std::string zsh_arguments(const CLI::App& command) {
  std::string text;
  for (const Option& option : options_of(command)) {
    const std::string words = "(" + join(option.offers, " ") + ")";
    const std::string offered = !option.asked.empty() ? "{compadd $(" + option.asked + ")}"
                                : option.or_file
                                    ? "{_alternative \"names:name:" + words + "\" \"files:file:_files\"}"
                                    : words;
    const std::string value = option.by_value(":value:" + offered, ":number: ", ":text:_files");
    for (const std::string& name : option.names) {
      const std::string title =
          option.positional ? "*" : name + "[" + escape(option.description, "[]:\\", "\\") + "]";
      text += " \\\n        " + quoted(title + value);
    }
  }
  return text;
}

std::string zsh_completion(const CLI::App& program) {
  std::string described;
  std::string cases;
  for (const CLI::App* command : program.get_subcommands({})) {
    described += "    " + quoted(command->get_name() + ":" + command->get_description()) + "\n";
    cases += "    " + command->get_name() + ")\n      _arguments" + zsh_arguments(*command) + "\n      ;;\n";
  }
  return R"(_duogemm() {
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
         program.get_name() + "\nfi\n";
}

// --- Fish ------------------------------------------------------------------------------------------------

std::string fish_quoted(const std::string& text) { return "'" + escape(text, "'\\", "\\") + "'"; }

// `where`: the condition under which these options are offered.
std::string fish_options(const std::string& program, const CLI::App& command, const std::string& where) {
  std::string text;
  for (const Option& option : options_of(command)) {
    text += "complete -c " + program + " -n " + where;
    for (const std::string& name : option.names) {
      text += option.positional ? "" : name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    const std::string offered = option.asked.empty() ? join(option.offers, " ") : "(" + option.asked + ")";
    text +=
        option.by_value((option.or_file ? " -r -F -a " : " -x -a ") + fish_quoted(offered), " -x", " -r -F") +
        " -d " + fish_quoted(option.description) + "\n";
  }
  return text;
}

std::string fish_completion(const CLI::App& program) {
  const std::string& name = program.get_name();
  std::string text = "complete -c " + name + " -f\n" + fish_options(name, program, "__fish_use_subcommand");
  for (const CLI::App* command : program.get_subcommands({})) {
    text += "complete -c " + name + " -n __fish_use_subcommand -a " + command->get_name() + " -d " +
            fish_quoted(command->get_description()) + "\n" +
            fish_options(name, *command, "'__fish_seen_subcommand_from " + command->get_name() + "'");
  }
  return text;
}

}  // namespace

std::string man_page(const CLI::App& program, const std::string& version) {
  const std::string& name = program.get_name();
  std::string text = ".TH DUOGEMM 1 \"\" \"" + name + " " + version + "\"\n";
  text += ".ad l\n.SH NAME\n" + name + " \\- " + escaped(program.get_description()) + "\n";
  text += ".SH SYNOPSIS\n" + bold(name) + " " + italic("command") + " [" + italic("options") + "]\n";
  text += ".SH OPTIONS\n" + options_text(program) + ".SH COMMANDS\n";
  for (const CLI::App* command : program.get_subcommands({})) {
    text += ".SS " + name + " " + command->get_name() + "\n" + escaped(command->get_description()) + ".\n" +
            options_text(*command);
  }
  text +=
      ".SH EXIT STATUS\n" +
      list_text({{"0", "All is well"},
                 {"1", "A result is wrong, or something failed"},
                 {"2", "The request cannot be served; a line on the standard error says why"},
                 {"130, 143",
                  "It was interrupted or terminated; what was measured until then is printed and written"}});
  text += ".SH ENVIRONMENT\n" + environment_text();
  text += ".SH FILES\n" +
          list_text({{"~/.cache/duogemm", "Programs that a driver or a compiler has made for devices here"},
                     {"~/.config/duogemm", "What " + name + " tune has found for devices here"},
                     {"PREFIX/share/duogemm/shapes", "The lists that --shapes knows by name"}});
  return text + ".SH EXAMPLES\n" +
         list_text(
             {{name + " ladder --size 2048", "Times and checks every rung"},
              {name + " explain --diff 6:7", "Says why one rung is faster than the other"},
              {name + " compare --shapes transformer,skinny --json before.json",
               "Times the library versus others, and keeps what was measured"},
              {name + " diff before.json after.json", "Says what a change has made faster"},
              {name + " tune --budget 8m", "Searches for the fastest settings on this device"},
              {name + " run -- python3 program.py", "Starts a program with duogemm in place of its BLAS"}});
}

std::string completion(const CLI::App& program, const std::string& shell) {
  const std::string& name = program.get_name();
  const std::string made_by =
      "# Completes " + name + " in " + shell + ". Made by: " + name + " completion " + shell + "\n";
  return shell == "bash"  ? made_by + bash_completion(program)
         : shell == "zsh" ? "#compdef " + name + "\n" + made_by + zsh_completion(program)
                          : made_by + fish_completion(program);
}

}  // namespace duogemm::bench
