// Copies of result files that are sent to others.
#include "output/share.h"

#include <gtest/gtest.h>

#include "refusal.h"

namespace duogemm::bench {
namespace {

const Identity alice{"alice", "redbox"};

// A small result file with these warnings and these further members.
std::string file_with(const Json& warnings, const Json& members = Json::object()) {
  Json document = {
      {"schema", "duogemm.ladder/1"},
      {"date", "2026-11-21T14:57:04Z"},
      {"runs", Json::array({{{"device", {{"backend", "cuda"}, {"name", "NVIDIA H200"}, {"driver", "580"}}},
                             {"gpu_after", {{"sm_mhz", 1980}}},
                             {"warnings", warnings}}})}};
  document.update(members);
  return document.dump();
}

Json shared_warnings(const Json& warnings) {
  return shared_file("r.json", file_with(warnings), alice).document["runs"][0]["warnings"];
}

TEST(Share, TakesOutPathsAndNames) {
  EXPECT_EQ(shared_warnings({"kernels of /home/bob/duogemm, on redbox"}), Json({"kernels of PATH, on HOST"}));
  EXPECT_EQ(shared_warnings({"in ~/notes/a.txt", "DIR=/root", "alice@redbox: \"/tmp/x\""}),
            Json({"in PATH", "DIR=PATH", "USER@HOST: \"PATH\""}));
}

TEST(Share, TakesOutPathsHoweverLongATextIs) {
  const std::string words(2'000'000, 'x');
  EXPECT_EQ(shared_warnings({words + " /home/" + words + "/a", "/home /rooted ~ /tmp. a+/b/c (/d/e)"}),
            Json({words + " PATH", "PATH /rooted ~ PATH. a+PATH (PATH)"}));
}

TEST(Share, RefusesWhatIsNestedWithoutEnd) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(testing::refusal([&] { shared_file("r.json", deep, alice); }),
            "r.json: this JSON is nested deeper than 64 levels");
}

TEST(Share, LeavesWordsThatOnlyLookAlike) {
  const Json warnings = {"9 GB/s, 3/4 of transformer/scores_512", "malice on redboxes", "a / b"};
  EXPECT_EQ(shared_warnings(warnings), warnings);
}

TEST(Share, TakesOutPrivateMembersAndKeepsTheRest) {
  const Json members = {{"host", "redbox"}, {"user", "alice"}};
  const SharedFile shared = shared_file("r.json", file_with(Json::array(), members), alice);
  EXPECT_EQ(shared.document, Json::parse(file_with(Json::array())));
  EXPECT_EQ(shared.replaced, 2);
}

TEST(Share, ChangesNothingInAFileThatIsClean) {
  const std::string text = file_with({"samples spread by more than 10 percent: naive (22%)"});
  EXPECT_EQ(shared_file("r.json", text, alice).document.dump(), text);
  EXPECT_EQ(shared_file("r.json", text, {"root", "localhost"}).replaced, 0);
}

TEST(Share, NamesTheCopyByDeviceAndRuntime) {
  EXPECT_EQ(shared_file("r.json", file_with(Json::array()), alice).name, "nvidia_h200_cuda_ladder");
}

}  // namespace
}  // namespace duogemm::bench
