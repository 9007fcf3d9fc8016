// duogemm report: pictures and a page from result files, and copies of these to send.
#include <filesystem>

#include "cli/commands.h"
#include "output/plots.h"
#include "output/share.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

struct ReportFlags {
  std::vector<std::string> results;
  std::string folder;
  bool share = false;
};

int run(const ReportFlags& flags) {
  for (const std::string& file : flags.results) {
    if (!std::filesystem::is_regular_file(file)) {
      reject(file +
             (std::filesystem::exists(file) ? ": it is not a regular file" : ": there is no such file"));
    }
  }
  if (std::filesystem::exists(flags.folder) && !std::filesystem::is_directory(flags.folder)) {
    reject("-o " + flags.folder + ": that is a file; give a folder's name");
  }
  if (flags.share) {
    share_results(flags.results, flags.folder.empty() ? "." : flags.folder);
    return 0;
  }
  if (flags.folder.empty()) {
    reject("report needs -o FOLDER for index.html and the pictures, or --share");
  }
  require_plotting();
  return plot_report(flags.results, flags.folder);
}

}  // namespace

void add_report_command(Program& program) {
  auto [command, flags] = add_command<ReportFlags>(
      program, "report", "Draw result files: the climb, pictures, and one page that needs no network", run);
  command
      .add_option("results", flags.results,
                  "Result files of ladder, compare, sweep, explain, replay and accuracy")
      ->required();
  command.add_option("-o,--output", flags.folder,
                     "The folder for index.html and the pictures, or for the copies (this one)");
  command.add_flag("--share", flags.share,
                   "Draw nothing: write copies to send, named by device and runtime, without user name, "
                   "host name and paths");
}

}  // namespace duogemm::bench
