#include <algorithm>

#include "help/pages.h"

namespace duogemm::bench {
namespace {

// A text that roff takes as it is. A hyphen would become another character, which cannot be copied to a
// shell.
std::string escaped(const std::string& text) {
  const std::string result = escape(text, "-\\", "\\");
  return result.find_first_of(".'") == 0 ? "\\&" + result : result;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escaped(text) + "\\fR"; }

std::string value_text(const OptionFacts& option) {
  const std::string choices = escape(escaped(join(option.choices, "|")), "|", "\\:");  // may break there
  return by_value(option, " \\fI" + choices + "\\fR", " " + italic("number"), " " + italic("text"));
}

std::string option_text(const OptionFacts& option) {
  const std::string names = join(option.names, ", ", option.positional ? italic : bold);
  std::string text = ".TP\n" + names + (option.positional ? "" : value_text(option)) + "\n";
  text += escaped(option.description) + ".\n";
  if (!option.range.empty()) {
    text += "Allowed: " + escaped(option.range) + ".\n";
  }
  if (!option.standard.empty()) {
    text += "Default: " + escaped(option.standard) + ".\n";
  }
  return text;
}

std::string options_text(const CommandFacts& command) {
  std::string text;
  for (const OptionFacts& option : command.options) {
    text += option_text(option);
  }
  return text;
}

}  // namespace

std::string man_page(const CommandFacts& program, const std::string& version) {
  std::string title = program.name;
  std::ranges::transform(title, title.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = ".TH " + title + " 1 \"\" \"" + program.name + " " + version + "\"\n";
  text += ".ad l\n.SH NAME\n" + program.name + " \\- " + escaped(program.description) + "\n";
  text += ".SH SYNOPSIS\n" + bold(program.name) + " " + italic("command") + " [" + italic("options") + "]\n";
  text += ".SH OPTIONS\n" + options_text(program) + ".SH COMMANDS\n";
  for (const CommandFacts& command : program.commands) {
    text += ".SS " + program.name + " " + command.name + "\n" + escaped(command.description) + ".\n" +
            options_text(command);
  }
  return text +
         ".SH EXIT STATUS\n"
         ".TP\n0\nAll is well.\n"
         ".TP\n1\nA result is wrong, or something failed.\n"
         ".TP\n2\nThe request cannot be served; a line on the standard error says why.\n"
         ".TP\n130\nIt was interrupted; what was measured until then is printed and written.\n";
}

}  // namespace duogemm::bench
