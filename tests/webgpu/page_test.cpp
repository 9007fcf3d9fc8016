// What a reader of the page sees of a rung.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "page/ladder_page.h"
#include "page/lines.h"
#include "page/settings.h"

namespace duogemm {
namespace {

std::string without_margin(const std::string& line) {
  return line.substr(std::min(line.find_first_not_of(' '), line.size()));
}

TEST(Page, ShowsTheLinesThatTheWalkShows) {
  for (const Rung& rung : rungs()) {
    const std::vector<bench::Excerpt> excerpts = bench::lines_that_matter(rung);
    EXPECT_EQ(excerpts.size(), rung.label == "nv" ? 0U : rung.label == "17" ? 2U : 1U) << rung.name;
    const std::vector<bench::LadderFile> files = bench::files_of(rung);
    for (const auto& [title, text] : excerpts) {
      const auto file = std::ranges::find(files, title.substr(0, title.find(' ')), &bench::LadderFile::path);
      ASSERT_NE(file, files.end()) << rung.name << " has no " << title;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_TRUE(std::ranges::any_of(
            file->lines,
            [&](const std::string& other) { return without_margin(other) == without_margin(line); }))
            << rung.name << ": " << line;
      }
    }
  }
  const std::string split = bench::lines_that_matter(*as_rung(any_kernel("split_k"))).front().text;
  EXPECT_NE(split.find("const int slice ="), split.npos) << split;
}

TEST(Page, OffersSettingsThatABrowserCanRun) {
  for (const Rung& rung : rungs()) {
    const std::vector<Tunables> settings = bench::browser_settings(rung);
    EXPECT_TRUE(bench::fits_browser(rung, settings.front(), bench::browser_local_bytes)) << rung.name;
    for (const Tunables& each : settings) {
      EXPECT_EQ(resolve(rung, each), each) << rung.name;
    }
  }
}

TEST(Page, IsOneFileThatNeedsNoNetwork) {
  const std::string page = bench::ladder_page();
  for (const char* part : {"src=", "href=\"http", "@DATA@", "/* scripts */", "/* styles */"}) {
    EXPECT_EQ(page.find(part), page.npos) << part;
  }
}

}  // namespace
}  // namespace duogemm
