// duogemm page: the ladder as a page that runs in a browser.
#include "cli/commands.h"
#include "output/files.h"
#include "page/ladder_page.h"

namespace duogemm::bench {
namespace {

struct LadderPageFlags {
  std::string file;
};

int run(const LadderPageFlags& flags) {
  require_place("the page", flags.file);
  write_result(flags.file, ladder_page());
  return 0;
}

}  // namespace

void add_page_command(Program& program) {
  auto [command, flags] =
      add_command<LadderPageFlags>(program, "page",
                                   "Write the ladder as a web page, one file, that runs and "
                                   "checks each rung on the visitor's GPU by WebGPU",
                                   run);
  command.add_option("file", flags.file, "The page's file, such as ladder.html, or - for stdout")->required();
}

}  // namespace duogemm::bench
