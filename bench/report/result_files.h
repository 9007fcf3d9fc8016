// Result files. The schema of the JSON is described in bench/schema/README.md.
#pragma once

#include <string>

#include "ladder/ladder_run.h"
#include "report/json_parts.h"

namespace duogemm::bench {

// A row as it is in the files of several commands.
Json row_json(const LadderRow& row, const Shape& shape);

std::string ladder_json(const std::vector<LadderReport>& reports, const LadderRequest& request);
std::string ladder_csv(const std::vector<LadderReport>& reports);

// Throws invalid_argument when a file cannot be written there; leaves an existing one alone.
void require_writable(const std::string& option, const std::string& path);

// For a result that a command was asked for: where "-" stands for the standard output, and "" for nowhere.
void require_place(const std::string& option, const std::string& path);
void write_result(const std::string& path, const std::string& text);

}  // namespace duogemm::bench
