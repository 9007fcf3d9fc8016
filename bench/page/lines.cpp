#include "page/lines.h"

#include <algorithm>
#include <list>
#include <sstream>

#include "page/ladder_page.h"

namespace duogemm::bench {
namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

const std::string& walk() {
  static const std::string text = [] {
    const auto is_walk = [](const EmbeddedFile& file) { return file.path.ends_with(".md"); };
    return std::string(std::ranges::find_if(page_files(), is_walk)->text);
  }();
  return text;
}

}  // namespace

// kernel_text() has a line "#line 7 "ladder/wide_tile.h"" wherever it goes on in another file, in place of
// what includes it.
std::vector<LadderFile> files_of(const Rung& rung) {
  std::list<LadderFile> files{{"", {}}};  // first, whatever is not of the ladder
  auto current = files.begin();
  for (const std::string& line : split_lines(kernel_text(rung.path))) {
    constexpr std::string_view start = "#line ";
    if (!line.starts_with(start)) {
      current->lines.push_back(line);
      continue;
    }
    const std::size_t quote = line.find('"');
    const std::string name = line.substr(quote + 1, line.rfind('"') - quote - 1);
    if (line.substr(start.size()).starts_with("1 ")) {
      current->lines.push_back("#include \"" + name + "\"");
    }
    const std::string path = name.starts_with("ladder/") ? "kernels/" + name : "";
    current = std::ranges::find(files, path, &LadderFile::path);
    if (current == files.end()) {
      current = files.insert(files.end(), {path, {}});
    }
  }
  return {std::next(files.begin()), files.end()};
}

std::vector<std::string> head_comment(const LadderFile& file) {
  std::vector<std::string> comment;
  for (const std::string& line : file.lines) {
    if (!line.starts_with("//")) {
      break;
    }
    comment.push_back(line.substr(std::min<std::size_t>(line.size(), 3)));
  }
  return comment;
}

// A rung has a section, "## [8](08_ldg_shuffle.cl): ...", and excerpts are its blocks with a title.
std::vector<Excerpt> lines_that_matter(const Rung& rung) {
  constexpr std::string_view opening = "\n```c title=\"";
  constexpr std::string_view closing = "\n```\n";
  std::string_view section = walk();
  section.remove_prefix(std::min(section.find("\n## [" + rung.label + "]("), section.size()));
  section = section.substr(0, section.find("\n## ", 1));
  std::vector<Excerpt> excerpts;
  for (std::size_t at = section.find(opening); at != section.npos; at = section.find(opening, at)) {
    at += opening.size();
    const std::size_t end_of_title = section.find("\"\n", at);
    const std::size_t begin = end_of_title + 2;
    const std::size_t end = section.find(closing, begin);
    excerpts.push_back({"kernels/ladder/" + std::string(section.substr(at, end_of_title - at)),
                        std::string(section.substr(begin, end - begin))});
    at = end;
  }
  return excerpts;
}

}  // namespace duogemm::bench
