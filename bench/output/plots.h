// Calls the tool that draws (bench/plots/report.py).
#pragma once

#include <string>
#include <vector>

namespace duogemm::bench {

// Throws unsupported, naming the package, where Python or what it draws with is missing.
void require_plotting();

// Throws invalid_argument unless the file is called .svg or .png.
void require_picture_name(const std::string& option, const std::string& path);

// The program's exit status: 2 when a file is not a result file, which the tool says in one line.
int plot_report(const std::vector<std::string>& results, const std::string& folder);

// json: a sweep's result file. picture: .svg or .png. Throws invalid_argument when the picture cannot be
// written.
void plot_sweep(const std::string& json, const std::string& picture);

}  // namespace duogemm::bench
