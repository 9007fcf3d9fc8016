// duogemm diff, on files that were written for it.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

using nlohmann::json;

json time(double median, double noise) {
  return json::object({{"median_s", median}, {"spread", noise}, {"noise", noise}, {"repeats", 1}});
}

json row(const std::string& label, double seconds, double other) {
  const json others = json::object({{"title", "OpenBLAS"}, {"time", time(other, 0.01)}});
  return json::object(
      {{"list", "mine"}, {"label", label}, {"time", time(seconds, 0.01)}, {"others", json::array({others})}});
}

// What one device has measured.
json run_on(const std::string& device, const json& rows) {
  const json on = json::object({{"name", device}, {"backend", device == "G" ? "cuda" : "cpu"}});
  const json openblas = json::object({{"title", "OpenBLAS"}, {"name", "OpenBLAS 0.3.30"}});
  const json ours = json::object({{"title", "CUDA"}, {"name", "duogemm through CUDA"}});
  return json::object({{"device", on}, {"others", json::array({openblas, ours})}, {"rows", rows}});
}

std::string compared(const std::string& device, const json& rows) {
  return json::object({{"schema", "duogemm.compare/1"}, {"runs", json::array({run_on(device, rows)})}})
      .dump();
}

TEST_F(Program, TellsWhatIsFasterAfterAChange) {
  const json skipped = json::object({{"list", "mine"}, {"label", "skipped"}, {"skipped", "too large"}});
  const json one = row("one", 4e-6, 1e-6), two = row("two", 1e-6, 1e-6), gone = row("gone", 1.0, 1.0);
  write("before.json", compared("A", json::array({one, two, gone, skipped})));
  const json faster = row("one", 2e-6, 1e-6), same = row("two", 1.015e-6, 1e-6), fresh = row("new", 1.0, 1.0);
  write("after.json", compared("A", json::array({faster, same, fresh})));
  const Outcome said = run("diff before.json after.json");
  EXPECT_EQ(said.status, 0);
  expect_match(said.out, "mine/one +4.00 +2.00 +2.000 +2.0% +faster\n");
  expect_match(said.out, "mine/two +1.00 +1.0[12] +0.985 +2.0% +same\n");
  expect_match(said.out, "2 in both, geometric mean 1.404: 1 faster, 0 slower, 1 the same");
  expect_match(said.out, "In one of the files alone: 1 before, 1 after");
  expect_match(said.out, "OpenBLAS 0[.]3[.]30, which did not change: 1.000");
  EXPECT_EQ(said.out.find("Warning"), std::string::npos);
  EXPECT_EQ(said.out.find("CUDA"), std::string::npos);
  expect_match(run("diff after.json before.json --md").out, "\\| mine/one +\\|.* slower ");
}

// A row without a time, and the same problem on two devices.
TEST_F(Program, TellsDevicesOfAFileApart) {
  json untimed = row("untimed", 1.0, 1.0);
  untimed["time"] = nullptr;
  const json rows = json::array({row("one", 1e-6, 1e-6), untimed});
  json ours = row("one", 3e-6, 1e-6);
  ours["others"][0]["title"] = "CUDA";
  const json runs = json::array({run_on("A", rows), run_on("G", json::array({ours}))});
  write("both.json", json::object({{"schema", "duogemm.compare/1"}, {"runs", runs}}).dump());
  const Outcome said = run("diff both.json both.json");
  EXPECT_EQ(said.status, 0) << said.err;
  expect_match(said.out, "cpu: mine/one +1.00 +1.00 .*same\ncuda: mine/one +3.00 +3.00 .*same\n2 in both");
}

TEST_F(Program, ComparesResultsOfTheSameAlone) {
  write("a.json", compared("A", json::array({row("one", 1e-6, 1e-6)})));
  write("b.json", compared("B", json::array({row("one", 1e-6, 1e-6)})));
  write("c.json", compared("A", json::array({row("two", 1e-6, 1e-6)})));
  write("torn.json", R"({"schema": "duogemm.compare/1", "runs": [{}]})");
  expect_match(run("diff a.json b.json").out,
               "Warning: the files are not of the same: A through cpu, then B through cpu");
  expect_all_refused({{"diff a.json c.json", {"a.json and c.json have measured nothing that is the same"}},
                      {"diff a.json torn.json", {"torn.json", "no whole result file"}},
                      {"diff a.json missing.json", {"missing.json"}},
                      {"diff a.json", {"after"}}});
}

}  // namespace
}  // namespace duogemm::testing
