#include "output/table.h"

#include <algorithm>

namespace duogemm::bench {
namespace {

const std::string separator = "  ";  // columns of text
const std::string fine = "ok";       // a verdict, in a column without a title, that stays in its row

// Those of the terminal (ECMA-48, "Select Graphic Rendition").
enum class Colour { red = 31, green = 32, yellow = 33 };

std::string painted(const std::string& text, Colour colour) {
  return Table::colours ? "\033[" + std::to_string(static_cast<int>(colour)) + "m" + text + "\033[0m" : text;
}

bool is_wrong(const std::vector<std::string>& cells) {
  return std::ranges::any_of(cells, [](const std::string& cell) { return cell.starts_with("WRONG"); });
}

bool says_something(const std::string& cell) { return !cell.empty() && cell != "-"; }

// Rules in Markdown take as many.
std::size_t least_width() { return Table::style == Table::Style::markdown ? 2 : 0; }

}  // namespace

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    std::size_t width = std::max({column.title.size(), column.later, least_width()});
    for (const auto& row : rows_) {
      width = std::max(width, row[i].size());
    }
    widths.push_back(width);
  }
  return widths;
}

bool Table::is_said_once(std::size_t column) const {
  return rows_.size() > 1 && columns_[column].later == 0 && !columns_[column].title.empty() &&
         std::ranges::all_of(rows_, [&](const auto& row) { return row[column] == rows_[0][column]; });
}

// The first column always stays, and so do short words that have a title as long as there are numbers to
// leave out.
Table::Layout Table::layout() const {
  constexpr std::size_t short_words = 16;
  std::vector<std::size_t> all = widths();
  std::vector<Place> places(columns_.size(), Place::column);
  const auto is_too_wide = [&] {
    std::size_t width = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      width += places[i] == Place::column  ? all[i] + separator.size()
               : columns_[i].title.empty() ? fine.size() + separator.size()
                                           : 0;
    }
    return style == Style::text && room > 0 && width > room + separator.size();
  };
  if (is_too_wide()) {
    for (std::size_t i = 1; i < places.size(); ++i) {
      places[i] = is_said_once(i) ? Place::above : Place::column;
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
  if (is_too_wide() && columns_[0].align == Align::left) {  // the longest names take lines of their own
    constexpr std::size_t long_name = 24;
    std::size_t width = columns_[0].title.size();
    for (const auto& row : rows_) {
      width = std::max(width, row[0].size() <= long_name ? row[0].size() : 0);
    }
    all[0] = width;
  }
  move_words_below(short_words);
  for (std::size_t i = places.size() - 1; i > 1 && is_too_wide(); --i) {
    if (places[i] == Place::column && columns_[i].align == Align::right) {
      places[i] = Place::left_out;
    }
  }
  move_words_below(0);
  return {all, places};
}

std::string Table::text() const {
  const Layout layout = this->layout();
  std::string text = head(layout);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    text += row(rows_[i], layout, best_ == i);
  }
  return text + foot(layout);
}

std::string Table::head(const Layout& layout) const {
  std::string text = style == Style::markdown ? "\n" : "";
  std::vector<std::string> titles;
  std::vector<std::string> rules;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    rules.emplace_back(layout.widths[i], '-');
    if (style == Style::markdown && columns_[i].align == Align::right) {
      rules.back().back() = ':';
    }
    if (layout.places[i] == Place::above && says_something(rows_.front()[i])) {
      text += filled(columns_[i].title + ": " + rows_.front()[i]);
    }
  }
  return text + line(titles, layout) + line(rules, layout);
}

std::string Table::row(const std::vector<std::string>& cells, Layout layout, bool is_best) const {
  std::string lines = line(cells, layout);
  if (style == Style::text && room > 0 && lines.size() > room + 1) {  // the verdict is longer than expected
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      layout.places[i] = columns_[i].title.empty() ? Place::below : layout.places[i];
    }
    lines = line(cells, layout);
  }
  std::vector<std::string> words;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (layout.places[i] == Place::below && cells[i] == fine) {
      lines.pop_back();
      lines += separator + fine + "\n";
    } else if (layout.places[i] == Place::below && says_something(cells[i])) {
      words.push_back(cells[i]);
    }
  }
  const std::string below(4, ' ');
  lines += words.empty() ? "" : filled(below + join(words, separator), below.size());
  lines.pop_back();
  return (is_wrong(cells) ? painted(lines, Colour::red)
          : is_best       ? painted(lines, Colour::green)
                          : lines) +
         "\n";
}

// In Markdown, a line that is not empty would be another row.
std::string Table::foot(const Layout& layout) const {
  std::vector<std::string> left_out;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (layout.places[i] == Place::left_out) {
      left_out.push_back(columns_[i].title);
    }
  }
  const std::string end = style == Style::markdown ? "\n" : "";
  return left_out.empty()
             ? end
             : filled("Left out for want of room: " + join(left_out) + ". --wide has all.") + end;
}

std::string Table::line(const std::vector<std::string>& cells, const Layout& layout) const {
  if (style == Style::text && cells[0].size() > layout.widths[0]) {
    std::vector<std::string> others = cells;
    others[0].clear();
    return filled(cells[0]) + line(others, layout);
  }
  std::vector<std::string> padded;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (layout.places[i] == Place::column) {
      const std::string space(std::max(layout.widths[i], cells[i].size()) - cells[i].size(), ' ');
      padded.push_back(columns_[i].align == Align::left ? cells[i] + space : space + cells[i]);
    }
  }
  if (style == Style::markdown) {
    return "| " + join(padded, " | ") + " |\n";
  }
  const std::string text = join(padded, separator);
  return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
}

std::string filled(std::string text, std::size_t indent) {
  std::string lines;
  while (Table::room > 0 && text.size() > Table::room) {
    const std::size_t begin = text.find_first_not_of(' ');
    std::size_t space = text.rfind(' ', Table::room);
    if (space == std::string::npos || space < begin) {  // the first word is longer
      space = text.find(' ', begin);
    }
    const std::size_t next = text.find_first_not_of(' ', space);
    if (next == std::string::npos) {
      break;
    }
    lines += text.substr(0, text.find_last_not_of(' ', space) + 1) + "\n";
    text = std::string(indent, ' ') + text.substr(next);
  }
  return lines + text + "\n";
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
