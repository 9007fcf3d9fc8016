// What a reader of the page sees of a rung.
#include <gtest/gtest.h>

#include <algorithm>

#include "page/ladder_page.h"
#include "page/lines.h"
#include "page/settings.h"

namespace duogemm {
namespace {

TEST(Page, ShowsTheLinesThatARungBrings) {
  const Rung* before = nullptr;
  for (const Rung& rung : rungs()) {
    const bench::Excerpt excerpt = bench::lines_that_matter(rung, before);
    EXPECT_EQ(excerpt.lines.size(), 10U) << rung.name;
    EXPECT_TRUE(excerpt.path.starts_with("kernels/ladder/")) << rung.name;
    before = &rung;
  }
  // Rung 15 is rung 14 with a slice of K.
  const bench::Excerpt excerpt =
      bench::lines_that_matter(*as_rung(any_kernel("split_k")), as_rung(any_kernel("tile_order")));
  EXPECT_NE(std::ranges::find_if(
                excerpt.lines, [](const auto& line) { return line.find("const int slice =") != line.npos; }),
            excerpt.lines.end());
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
