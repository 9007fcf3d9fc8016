// What a comparison prints.
#pragma once

#include <string>

#include "compare/compare_report.h"
#include "support/table.h"

namespace duogemm::bench {

// The device and the libraries.
std::string head_text(const CompareReport& report);

// A row per shape of the list that is there.
std::string list_text(const CompareReport& report, const std::string& list);

// The same in parts, for rows that are printed as they come. `report` needs no rows.
class ListTable {
 public:
  ListTable(const CompareReport& report, const ShapeList& list);
  std::string head() const { return table_.head(); }
  std::string row(const CompareReport& report, const CompareRow& row) const;

 private:
  Table table_;  // with rows that are as wide as those that will come
};

// The ratios to each other contender: per list, and over all.
std::string summary_text(const CompareReport& report);

}  // namespace duogemm::bench
