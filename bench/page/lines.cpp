#include "page/lines.h"

#include <algorithm>
#include <functional>
#include <list>
#include <numeric>
#include <set>
#include <sstream>

namespace duogemm::bench {
namespace {

constexpr std::size_t excerpt_length = 10;

std::vector<std::string> split_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

// Without the margin.
std::string code_of(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin);
}

// Brackets alone, comments, what is for the preprocessor, a kernel's parameters and who a work-item is say
// little.
bool counts(const std::string& code) {
  constexpr std::string_view starts[] = {"//", "#", "__kernel", "const __global"};
  constexpr std::string_view parts[] = {"const float alpha,", "get_local_id(", "get_group_id(",
                                        "get_global_id("};
  return code.size() > 2 &&
         std::ranges::none_of(starts, [&](std::string_view start) { return code.starts_with(start); }) &&
         std::ranges::none_of(parts, [&](std::string_view part) { return code.find(part) != code.npos; });
}

std::set<std::string> codes_of(const Rung* rung) {
  std::set<std::string> codes;
  for (const LadderFile& file : rung ? files_of(*rung) : std::vector<LadderFile>{}) {
    std::ranges::transform(file.lines, std::inserter(codes, codes.end()), code_of);
  }
  return codes;
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

Excerpt lines_that_matter(const Rung& rung, const Rung* before) {
  const std::set<std::string> known = codes_of(before);
  Excerpt best;
  std::ptrdiff_t most = -1;
  for (const LadderFile& file : files_of(rung)) {
    // A multiply-add counts twice.
    const auto weight = [&](const std::string& line) {
      const std::string code = code_of(line);
      const std::ptrdiff_t multiplies = code.find("fma(") != code.npos ? 1 : 0;
      return counts(code) && !known.contains(code) ? 1 + multiplies : 0;
    };
    for (std::size_t first = 0; first + excerpt_length <= file.lines.size(); ++first) {
      const auto begin = file.lines.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(excerpt_length);
      const std::ptrdiff_t sum = std::transform_reduce(begin, end, std::ptrdiff_t{0}, std::plus<>(), weight);
      if (sum > most) {
        most = sum;
        best = {file.path, static_cast<int>(first) + 1, {begin, end}};
      }
    }
  }
  return best;
}

}  // namespace duogemm::bench
