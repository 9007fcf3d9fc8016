// The reader of lists of shapes, and the lists that come with the program.
#include "support/shapes.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "files.h"
#include "refusal.h"
#include "system/temporary_directory.h"

namespace duogemm::bench {
namespace {

TEST(Shapes, ReadsSizesTransposesAndOptions) {
  const std::vector<NamedShape> shapes = parse_shapes(
      "# a comment\n"
      "\n"
      "plain 3 4 5\n"
      "  transposed 3 4 5 TN  # another\n"
      "batch 3 4 5 NT batch=7 lda=8 b_stride=0 beta=0.5\n"
      "heads 64 16 32 NN ldc=256 batch=4 c_stride=64",
      "list");
  ASSERT_EQ(shapes.size(), 4u);
  EXPECT_EQ(shapes[0].label, "plain");
  const Problem& plain = shapes[0].problem;
  EXPECT_EQ(ops_of(plain), "NN");
  EXPECT_EQ((std::vector{plain.m, plain.n, plain.k, plain.a_stride}),
            (std::vector<std::int64_t>{3, 4, 5, 0}));
  EXPECT_EQ(plain.beta, 0.0f);
  EXPECT_EQ(ops_of(shapes[1].problem), "TN");
  EXPECT_EQ(shapes[1].problem.lda, 5);
  const Problem& batch = shapes[2].problem;
  EXPECT_EQ((std::vector{batch.batch, batch.a_stride, batch.b_stride, batch.ldb, batch.c_stride}),
            (std::vector<std::int64_t>{7, 8 * 5, 0, 4, 3 * 4}));
  EXPECT_EQ(batch.beta, 0.5f);
  EXPECT_EQ(shapes[3].problem.c_stride, 64);
}

TEST(Shapes, SaysWhatIsWrongWithWhichLineAndWhatIsAllowed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"a 1 2", "list:1: expected LABEL M N K"},
      {"a 1 2 3\nb 1 2 x", "list:2: 'x' is no size: M, N and K are whole numbers from 1 to 16777216"},
      {"a 1 2 0", "list:1: '0' is no size"},
      {"a 1 2 16777217", "list:1: '16777217' is no size"},
      {"a 1 2 3 NX", "list:1: 'NX' does not say what is transposed: NN, NT, TN and TT do"},
      {"a 1 2 3 NN extra", "list:1: 'extra' is unknown: there are batch=, lda="},
      {"a 1 2 3 NN ld=3", "list:1: 'ld=3' is unknown"},
      {"a 1 2 3 NN lda=x", "list:1: 'lda=x': lda is a whole number from 0 to"},
      {"a 1 2 3 NN a_stride=-1", "list:1: 'a_stride=-1': a_stride is a whole number from 0 to"},
      {"a 1 2 3 NN beta=", "list:1: 'beta=': beta is a number"},
      {"a 9 2 3 NN lda=3", "list:1: lda is 3; it must be at least 9"},
      {"a 1 2 3 NN batch=0", "list:1: batch is 0; it must be from 1 to"},
      {"a 4 4 4 NN batch=2 c_stride=15", "list:1: c_stride is 15: the results of the batch would overlap"},
      {"a 1 2 3\n\na 4 5 6", "list:3: the label 'a' is there twice"},
      {"a 4 4 4 NN batch=16777216 ldc=68719476736 c_stride=68719476736",
       "list:1: c reaches beyond 2^60 elements"},
      {"# nothing\n", "list: there are no shapes in it"},
  };
  for (const auto& [text, message] : wrong) {
    const std::string found = testing::refusal([&text = text] { parse_shapes(text, "list"); });
    EXPECT_EQ(found.find(message), 0u) << text << " -> " << found;
  }
}

TEST(Shapes, ReadsAFileByItsPathAndNamesTheListAfterIt) {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "mine.txt";
  testing::overwrite(file, "one 1 2 3\ntwo 4 five 6\n");
  EXPECT_EQ(testing::refusal([&] { load_shapes(file.string()); }).find(file.string() + ":2: 'five'"), 0u);
  testing::overwrite(file, "one 1 2 3\n");
  EXPECT_EQ(load_shapes(file.string()).name, "mine");
  EXPECT_EQ(load_shapes(file.string()).shapes.size(), 1u);
}

TEST(Shapes, ThatAreShippedAreReadable) {
  for (const auto& file : testing::files_in(DUOGEMM_SOURCE "/bench/shapes")) {
    const std::size_t count = load_shapes(file.string()).shapes.size();
    EXPECT_TRUE(count >= 10 && count <= 32) << file;
  }
}

}  // namespace
}  // namespace duogemm::bench
