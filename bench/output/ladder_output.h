// The ladder as tables, as CSV and as a result file, which bench/schema/README.md describes.
#pragma once

#include <string>

#include "output/json.h"
#include "runner/ladder_run.h"

namespace duogemm::bench {

// The head and the table of one report. tutorial: with the figures of the Tesla K40m that the ladder was
// first published with.
std::string ladder_text(const LadderReport& report, bool tutorial);

// Both runtimes on one GPU, rung by rung: reports of the same settings.
std::string side_by_side_text(const LadderReport& cuda, const LadderReport& opencl);

// "cuBLAS" of "cuBLAS 13.1.0", for the title of a column; "a library" where the device has none.
std::string library_title(const std::string& reference);

// "ok", "WRONG" with what is wrong, or "not supported here" with the reason.
std::string status_text(const Row& row);

Json ladder_json(const std::vector<LadderReport>& reports, const LadderRequest& request);
std::string ladder_csv(const std::vector<LadderReport>& reports);

}  // namespace duogemm::bench
