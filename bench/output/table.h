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
    std::size_t later = 0;  // characters of cells that come by row() alone
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
  // The same in parts, for rows that are printed as they come and are not kept. Their columns are as wide as
  // those of the rows there are, and as `later` says.
  std::string head() const { return head(layout()); }
  std::string row(const std::vector<std::string>& cells) const { return row(cells, layout(), false); }
  std::string foot() const { return foot(layout()); }

 private:
  enum class Place { column, above, below, left_out };
  struct Layout {
    std::vector<std::size_t> widths;
    std::vector<Place> places;
  };

  std::vector<std::size_t> widths() const;
  Layout layout() const;
  bool is_said_once(std::size_t column) const;
  std::string head(const Layout& layout) const;
  std::string row(const std::vector<std::string>& cells, Layout layout, bool is_best) const;
  std::string foot(const Layout& layout) const;
  std::string line(const std::vector<std::string>& cells, const Layout& layout) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::optional<std::size_t> best_;
};

// A line of text, broken between words where it is longer than the terminal's. `indent` spaces precede what
// follows.
std::string filled(std::string text, std::size_t indent = 0);

// Lines for people, each beginning with "Warning: " and no longer than the terminal; empty when there are
// none.
std::string warning_lines(const std::vector<std::string>& warnings);

inline constexpr double gigaflop = 1e9;

// A column of words.
inline Table::Column left(std::string title) { return {std::move(title), Table::Align::left}; }

// A column of numbers that come later, none of them longer than that; or than "100000.0".
inline Table::Column measured(std::string title, std::size_t characters = 8) {
  Table::Column column(std::move(title));
  column.later = characters;
  return column;
}

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
