#include "output/plots.h"

#include <cstdio>
#include <optional>

#include "duogemm/error.h"
#include "support/program.h"
#include "system/files.h"
#include "system/paths.h"
#include "system/temporary_directory.h"
#include "system/tools.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

// The first that has what draws: that of PATH may be another than the system's, which has its packages.
// Looked for once, as importing matplotlib takes its time.
const fs::path& python() {
  static const fs::path found = [] {
    std::vector<fs::path> candidates = {find_tool("python3").value_or(""), "/usr/bin/python3"};
    std::erase_if(candidates, [](const fs::path& candidate) { return !fs::exists(candidate); });
    for (const fs::path& candidate : candidates) {
      if (run_tool(candidate, {"-c", "import jinja2, matplotlib"}, ToolErrors::drop).status == 0) {
        return candidate;
      }
    }
    throw Error(Status::unsupported,
                "pictures need Python 3 with matplotlib and Jinja2: install the packages python3, "
                "python3-matplotlib and python3-jinja2");
  }();
  return found;
}

fs::path script() {
  fs::path file = folder_of_program("plots") / "report.py";
  if (!fs::exists(file)) {
    throw Error(Status::unsupported, "plots/report.py is neither beside the program nor in share/duogemm");
  }
  return file;
}

int call(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), script().string());
  const ToolResult result = run_tool(python(), arguments, ToolErrors::show);
  std::printf("%s", result.out.c_str());
  return result.status;
}

}  // namespace

void require_plotting() {
  script();
  python();
}

void require_picture_name(const std::string& option, const std::string& path) {
  const fs::path extension = path_of(path).extension();
  if (extension != ".svg" && extension != ".png") {
    throw Error(Status::invalid_argument, option + " " + path + ": pictures are .svg or .png");
  }
}

int plot_report(const std::vector<std::string>& results, const std::string& folder) {
  std::vector<std::string> arguments = results;
  arguments.insert(arguments.end(), {"-o", folder});
  return call(std::move(arguments)) == 0 ? 0 : 2;
}

void plot_sweep(const std::string& json, const std::string& picture) {
  const TemporaryDirectory folder;
  const fs::path file = folder.path() / "sweep.json";
  write_file(file, json);
  if (call({"--sweep", file.string(), picture}) != 0) {
    throw Error(Status::invalid_argument, "--plot " + picture + ": could not be drawn");
  }
}

}  // namespace duogemm::bench
