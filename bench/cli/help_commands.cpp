// duogemm man and duogemm completion: pages made from the options themselves.
#include <cstdio>

#include "cli/commands.h"
#include "duogemm/version.h"
#include "help/pages.h"

namespace duogemm::bench {
namespace {

int print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return 0;
}

std::string completion(const std::string& shell, const CommandFacts& program) {
  return shell == "bash"  ? bash_completion(program)
         : shell == "zsh" ? zsh_completion(program)
                          : fish_completion(program);
}

}  // namespace

void add_completion_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("completion", "Print what a shell completes command lines of this program by");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, &action, shell] {
    action = [&app, shell] { return print(completion(*shell, facts_of(app))); };
  });
}

void add_man_command(CLI::App& app, Action& action) {
  app.add_subcommand("man", "Print this program's page for man, as in `duogemm man | man -l -`")
      ->callback([&] { action = [&app] { return print(man_page(facts_of(app), DUOGEMM_VERSION)); }; });
}

}  // namespace duogemm::bench
