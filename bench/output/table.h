// A table whose columns line up.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/format.h"

namespace duogemm::bench {

class Table {
 public:
  enum class Align { left, right };
  // All tables of the program share it.
  enum class Style { text, markdown };
  static inline Style style = Style::text;
  // Characters that a line of text may have; 0 for any number.
  static inline std::size_t room = 0;
  // Rows that are wrong are red, the best one is green.
  static inline bool colours = false;

  struct Column {
    Column(std::string text, Align side = Align::right) : title(std::move(text)), align(side) {}
    Column(const char* text) : title(text) {}
    std::string title;
    Align align = Align::right;
  };

  Table() = default;
  Table(std::initializer_list<Column> columns) : columns_(columns) {}
  void add_column(std::string title, Align align) { add_column(Column(std::move(title), align)); }
  void add_column(Column column) { columns_.push_back(std::move(column)); }
  // One cell per column.
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void mark_best(std::size_t row) { best_ = row; }
  // Titles, rule and rows, each on a line. Where there is no room for all columns, what is the same in all
  // rows is said once above, long words stand below their row, and the last numbers are left out, with a
  // note.
  std::string text() const;
  // For rows that are printed as they come: title and rule as wide as the rows there are, one more line below
  // them, which is not kept, and what ends the table.
  std::string head() const;
  std::string row(const std::vector<std::string>& cells) const;
  static std::string foot();

 private:
  enum class Place { column, above, below, left_out };

  std::vector<std::size_t> widths() const;
  std::vector<Place> places() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::optional<std::size_t> best_;
};

// Lines for people, each beginning with "Warning: " and no longer than the terminal; empty when there are
// none.
std::string warning_lines(const std::vector<std::string>& warnings);

inline constexpr double gigaflop = 1e9;

// A column of words.
inline Table::Column left(std::string title) { return {std::move(title), Table::Align::left}; }

// Columns of a table whose rows are about such things, each with what it says of one.
template <typename Thing>
using Columns = std::vector<std::pair<Table::Column, std::function<std::string(const Thing&)>>>;

template <typename Thing>
std::vector<std::string> cells_of(const Columns<Thing>& columns, const Thing& thing) {
  std::vector<std::string> cells;
  for (const auto& [column, cell] : columns) {
    cells.push_back(cell(thing));
  }
  return cells;
}

template <typename Thing, std::ranges::input_range Things = std::vector<Thing>>
Table table_of(const Columns<Thing>& columns, Things&& things = {}) {
  Table table;
  for (const auto& [column, cell] : columns) {
    table.add_column(column);
  }
  for (const Thing& thing : things) {
    table.add_row(cells_of(columns, thing));
  }
  return table;
}

}  // namespace duogemm::bench
