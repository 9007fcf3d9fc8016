// What the runs have found, as tables and as result files, which bench/schema/README.md describes.
#pragma once

#include <string>

#include "output/json.h"
#include "output/table.h"
#include "runner/runs.h"

namespace duogemm::bench {

std::string accuracy_text(const AccuracyReport& report);
Json accuracy_json(const AccuracyReport& report);

// The device and the libraries of a comparison.
std::string head_text(const CompareReport& report);

// A row per shape of the list that is there.
std::string list_text(const CompareReport& report, const std::string& list);

// The same in parts, for rows that are printed as they come. `report` needs no rows.
class ListTable {
 public:
  ListTable(const CompareReport& report, const ShapeList& list);
  std::string head() const { return table_.head(); }
  std::string row(const ProblemRows& problem) const { return table_.row(cells_of(columns_, problem)); }
  std::string foot() const { return table_.foot(); }

 private:
  Columns<ProblemRows> columns_;
  Table table_;  // with what is known of the shapes before
};

// The ratios to each other contender: per list, and over all.
std::string summary_text(const CompareReport& report);
Json compare_json(const std::vector<CompareReport>& reports, const CompareRequest& request);

// The head and the table of one ladder. tutorial: with the figures of the Tesla K40m that it was first
// published with.
std::string ladder_text(const LadderReport& report, bool tutorial);

// Both runtimes on one GPU, rung by rung: reports of the same settings.
std::string side_by_side_text(const LadderReport& cuda, const LadderReport& opencl);
Json ladder_json(const std::vector<LadderReport>& reports, const LadderRequest& request);

// Prints a sweep: one axis as a line for each value, and two as a line for each value of the first with a
// column for each of the second.
class SweepText {
 public:
  // The lines that are done and were not told yet, the first time with the head before them.
  std::string more(const SweepReport& report);
  // The rest of a sweep that is done.
  std::string end(const SweepReport& report);

 private:
  std::size_t lines_ = 0;  // told so far
};

Json sweep_json(const SweepReport& report, const SweepRequest& request);

// "cuBLAS" of "cuBLAS 13.1.0", for the title of a column; "a library" where the device has none.
std::string library_title(const std::string& reference);

// "ok", "WRONG" with what is wrong, or "not supported here" with the reason.
std::string status_text(const Row& row);

// Says what is asked of results where fma rounds twice; empty where it rounds once.
std::string fma_text(bool fuses);

// "M=1 N=2 K=3"
std::string size_text(const Shape& shape);

}  // namespace duogemm::bench
