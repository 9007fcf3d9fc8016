#include "output/table.h"

#include <algorithm>

namespace duogemm::bench {
namespace {

const std::string between = "  ";  // columns of text
const std::string fine = "ok";     // a verdict, in a column without a title, that stays in its row

// Those of the terminal (ECMA-48, "Select Graphic Rendition").
enum class Colour { red = 31, green = 32, yellow = 33 };

std::string painted(const std::string& text, Colour colour) {
  return Table::colours ? "\033[" + std::to_string(static_cast<int>(colour)) + "m" + text + "\033[0m" : text;
}

bool is_wrong(const std::vector<std::string>& cells) {
  return std::ranges::any_of(cells, [](const std::string& cell) { return cell.starts_with("WRONG"); });
}

}  // namespace

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

// The first column always stays, and so do short words that have a title as long as there are numbers to
// leave out.
std::vector<Table::Place> Table::places() const {
  constexpr std::size_t short_words = 16;
  std::vector<Place> places(columns_.size(), Place::column);
  const std::vector<std::size_t> all = widths();
  const auto is_too_wide = [&] {
    std::size_t width = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      width += places[i] == Place::column  ? all[i] + between.size()
               : columns_[i].title.empty() ? fine.size() + between.size()
                                           : 0;
    }
    return style == Style::text && room > 0 && width > room + between.size();
  };
  if (is_too_wide() && rows_.size() > 1) {
    for (std::size_t i = 1; i < places.size(); ++i) {
      const bool same = std::ranges::all_of(rows_, [&](const auto& row) { return row[i] == rows_[0][i]; });
      places[i] = same && !columns_[i].title.empty() ? Place::above : Place::column;
    }
  }
  const auto move_words_below = [&](std::size_t longer_than) {
    while (is_too_wide()) {
      std::size_t longest = 0;
      for (std::size_t i = 1; i < places.size(); ++i) {
        const bool is_long = all[i] > longer_than || columns_[i].title.empty();
        if (places[i] == Place::column && columns_[i].align == Align::left && is_long &&
            (longest == 0 || all[i] > all[longest])) {
          longest = i;
        }
      }
      if (longest == 0) {
        return;
      }
      places[longest] = Place::below;
    }
  };
  move_words_below(short_words);
  for (std::size_t i = places.size() - 1; i > 1 && is_too_wide(); --i) {
    if (places[i] == Place::column && columns_[i].align == Align::right) {
      places[i] = Place::left_out;
    }
  }
  move_words_below(0);
  return places;
}

std::string Table::text() const {
  const std::vector<Place> places = this->places();
  const auto at = [&](Place place) {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] == place) {
        indices.push_back(i);
      }
    }
    return indices;
  };
  const auto says_something = [](const std::string& cell) { return !cell.empty() && cell != "-"; };
  const std::vector<std::size_t> columns = at(Place::column);
  Table narrow;
  for (const std::size_t i : columns) {
    narrow.add_column(columns_[i]);
  }
  for (const auto& row : rows_) {
    std::vector<std::string> cells;
    for (const std::size_t i : columns) {
      cells.push_back(row[i]);
    }
    narrow.add_row(cells);
  }
  std::string text;
  for (const std::size_t i : at(Place::above)) {
    const std::string& cell = rows_.front()[i];
    text += says_something(cell) ? columns_[i].title + ": " + cell + "\n" : "";
  }
  text += narrow.head();
  const std::vector<std::size_t> all = narrow.widths();
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    std::string lines = narrow.line(narrow.rows_[row], all);
    std::vector<std::string> words;
    for (const std::size_t i : at(Place::below)) {
      if (rows_[row][i] == fine) {
        lines.back() = ' ';
        lines += " " + fine + "\n";
      } else if (says_something(rows_[row][i])) {
        words.push_back(rows_[row][i]);
      }
    }
    lines += words.empty() ? "" : "    " + join(words, between) + "\n";
    lines.pop_back();
    text += (is_wrong(rows_[row]) ? painted(lines, Colour::red)
             : best_ == row       ? painted(lines, Colour::green)
                                  : lines) +
            "\n";
  }
  const std::vector<std::size_t> left_out = at(Place::left_out);
  if (!left_out.empty()) {
    text += "Left out for want of room: " +
            join(left_out, ", ", [&](std::size_t i) { return columns_[i].title; }) + ". --wide has all.\n";
  }
  return text + foot();
}

std::string Table::row(const std::vector<std::string>& cells) const {
  std::string text = line(cells, widths());
  text.pop_back();
  return (is_wrong(cells) ? painted(text, Colour::red) : text) + "\n";
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
  const std::string text = join(padded, between);
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string warning_lines(const std::vector<std::string>& warnings) {
  const std::string head = "Warning:";
  std::string text;
  for (const std::string& warning : warnings) {
    const std::size_t room = Table::room - std::min(Table::room, head.size() + 1);
    const bool fits = Table::room == 0 || warning.size() <= room;
    text += painted(head, Colour::yellow) + " " +
            (fits ? warning : warning.substr(0, room - std::min<std::size_t>(room, 3)) + "...") + "\n";
  }
  return text;
}

}  // namespace duogemm::bench
