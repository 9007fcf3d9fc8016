#include "output/table.h"

#include <algorithm>

namespace duogemm::bench {

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = std::max<std::size_t>(columns_[i].title.size(), style == Style::markdown ? 2 : 0);
    for (const auto& row : rows_) {
      width = std::max(width, row[i].size());
    }
    widths.push_back(width);
  }
  return widths;
}

std::string Table::head() const {
  const std::vector<std::size_t> all = widths();
  std::vector<std::string> titles;
  std::vector<std::string> rules;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    rules.emplace_back(all[i], '-');
    if (style == Style::markdown && columns_[i].align == Align::right) {
      rules.back().back() = ':';
    }
  }
  return (style == Style::markdown ? "\n" : "") + line(titles, all) + line(rules, all);
}

std::string Table::text() const {
  std::string result = head();
  const std::vector<std::size_t> all = widths();
  for (const auto& row : rows_) {
    result += line(row, all);
  }
  return result + foot();
}

// A line that is not empty would be another row.
std::string Table::foot() { return style == Style::markdown ? "\n" : ""; }

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const {
  std::vector<std::string> padded;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string space(std::max(widths[i], cells[i].size()) - cells[i].size(), ' ');
    padded.push_back(columns_[i].align == Align::left ? cells[i] + space : space + cells[i]);
  }
  if (style == Style::markdown) {
    return "| " + join(padded, " | ") + " |\n";
  }
  const std::string text = join(padded, "  ");
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace duogemm::bench
