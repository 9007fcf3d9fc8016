// A table of text whose columns line up.
#pragma once

#include <string>
#include <vector>

namespace duogemm::bench {

class Table {
 public:
  enum class Align { left, right };
  void add_column(std::string title, Align align = Align::right);
  void add_row(std::vector<std::string> cells);  // one per column
  std::string text() const;                      // title, rule and rows, each on a line
  // For rows that are printed as they come: title and rule as wide as the rows there are, and one more line
  // below them, which is not kept.
  std::string head() const;
  std::string row(const std::vector<std::string>& cells) const { return line(cells, widths()); }

 private:
  struct Column {
    std::string title;
    Align align;
  };
  std::vector<std::size_t> widths() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// printf for one number.
std::string format(const char* pattern, double value);

}  // namespace duogemm::bench
