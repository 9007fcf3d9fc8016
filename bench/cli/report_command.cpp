// duogemm report: pictures and a page from result files.
#include <filesystem>

#include "cli/commands.h"
#include "duogemm/error.h"
#include "report/plots.h"

namespace duogemm::bench {
namespace {

struct ReportFlags {
  std::vector<std::string> results;
  std::string folder;
};

int run(const ReportFlags& flags) {
  for (const std::string& file : flags.results) {
    if (!std::filesystem::is_regular_file(file)) {
      throw Error(Status::invalid_argument, file + ": there is no such file");
    }
  }
  if (std::filesystem::exists(flags.folder) && !std::filesystem::is_directory(flags.folder)) {
    throw Error(Status::invalid_argument, "-o " + flags.folder + ": that is a file; give a folder's name");
  }
  require_plotting();
  return plot_report(flags.results, flags.folder);
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command =
      app.add_subcommand("report", "Draw result files: pictures, and one page that needs no network");
  command->add_option("results", flags->results, "Result files of ladder, compare, sweep, explain and replay")
      ->required();
  command->add_option("-o,--output", flags->folder, "The folder for index.html and the pictures")->required();
  command->callback([&action, flags] { action = [flags] { return run(*flags); }; });
}

}  // namespace duogemm::bench
