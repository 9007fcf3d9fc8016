// `duogemm ladder` and `duogemm sweep`.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

TEST_F(ProgramOnADevice, WritesWhatItPrints) {
  const Outcome outcome = run_well("ladder -m 65 -n 33 -k 17 --kernels 1,4,nv --tutorial --json r.json");
  EXPECT_EQ(outcome.err, "");  // no progress line: this is no terminal
  expect_match(outcome.out, "K40m");
  const auto json = json_in("r.json");
  EXPECT_EQ(json["schema"], "duogemm.ladder/1");
  ASSERT_EQ(json["runs"].size(), 1u);
  const auto& run = json["runs"][0];
  EXPECT_EQ(run["m"], 65);
  ASSERT_EQ(run["rows"].size(), 4u);  // rung 4 has two settings
  for (const auto& row : run["rows"]) {
    EXPECT_TRUE(row["ok"]);
    EXPECT_GE(row["time"]["seconds"].size(), 5u);
    EXPECT_LE(row["error_per_bound"], 1.0);
  }
  EXPECT_EQ(files().size(), 1u);
}

// The last row is what duogemm itself would run; other kernels of the library are there by name.
TEST_F(ProgramOnADevice, ShowsItsOwnChoice) {
  const Outcome outcome =
      run_well("ladder --size 64 --kernels 1,general,duogemm --seconds 0.01 --json r.json");
  expect_match(outcome.out, "\nduogemm  [a-z_]+ .*x \\(1\\).* ok\n");
  const auto rows = json_in("r.json")["runs"][0]["rows"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1]["kernel"], "general");
  EXPECT_EQ(rows[2]["rung"], "duogemm");
  EXPECT_TRUE(rows[2]["ok"]);
}

// A rung that does not run here is none to be compared with, as the one for tensor cores on a CPU.
TEST_F(ProgramOnADevice, ComparesWithTheRungBeforeThatRan) {
  const Outcome outcome = run_well("ladder --size 32 --kernels 1,17,general --seconds 0.01");
  const bool with_tensor_cores = !matches(outcome.out, "\\n *17 .* not supported here");
  expect_match(outcome.out, with_tensor_cores ? "\\n *general .*x \\(17\\)" : "\\n *general .*x \\(1\\)");
}

// A result on the standard output has it for itself.
TEST_F(ProgramOnADevice, WritesAResultToTheStandardOutput) {
  const Outcome json = run_well("ladder --size 32 --kernels 1 --seconds 0.01 --json -");
  EXPECT_EQ(nlohmann::json::parse(json.out)["schema"], "duogemm.ladder/1");
  expect_match(json.err, "GFLOP/s");
  const Outcome sweep = run_well("sweep --kernel 1 --over TS=8:16:x2 --size 32 --seconds 0.01 --json -");
  EXPECT_EQ(nlohmann::json::parse(sweep.out)["points"].size(), 2u);
  expect_match(sweep.err, "GFLOP/s  spread  of (OpenBLAS|cuBLAS|a library)");
  EXPECT_TRUE(files().empty());
  const Outcome full =
      run_shell("{ '" DUOGEMM_PROGRAM "' ladder --size 32 --kernels 1 --seconds 0.01 --json - >/dev/full; }");
  EXPECT_EQ(full.status, 1);
  expect_match(full.err, "the standard output could not be written");
}

// Whatever the build has chosen.
TEST_F(ProgramOnADevice, ShowsWhatItsSwitchesAre) {
  const Outcome outcome = run_well("ladder --size 32 --kernels 1,8 --no-ldg --seconds 0.01");
  expect_match(outcome.out, "\nBuilt with BACKEND=(opencl|cuda|all), USE_LDG=O(N|FF), USE_SHUFFLE=O(N|FF)\n");
  expect_match(outcome.out, " 8  [a-z0-9_]+ +USE_LDG=0 USE_SHUFFLE=[01] ");
}

// A setting that is not possible says so at its place, and the rest is measured.
TEST_F(ProgramOnADevice, SweepsOverTunablesAndSizes) {
  const Outcome outcome =
      run_well("sweep --kernel 6 --over WPTM=2:4 --over size=32:64:x2 --seconds 0.01 --json s.json");
  EXPECT_NE(outcome.out.find("- not possible: WPTM=3: kernel register_2d allows 1, 2, 4, 8"),
            std::string::npos)
      << outcome.out;
  expect_match(outcome.out, "Fastest: WPTM=");
  const auto json = json_in("s.json");
  EXPECT_EQ(json["schema"], "duogemm.sweep/1");
  ASSERT_EQ(json["points"].size(), 6u);
  EXPECT_EQ(json["points"][1]["at"], nlohmann::json({2, 64}));
  EXPECT_EQ(json["points"][1]["m"], 64);
  EXPECT_TRUE(json["points"][1]["row"]["ok"]);
  EXPECT_EQ(json["points"][1]["row"]["tunables"]["WPTM"], 2);
  EXPECT_TRUE(json["points"][2].contains("invalid"));
}

// Rows that are printed as they come end as a table of Markdown does, too.
TEST_F(ProgramOnADevice, EndsATableOfMarkdownWithAnEmptyLine) {
  for (const std::string command : {"sweep --kernel 1 --over TS=8:16:x2", "compare --against none"}) {
    const Outcome outcome = run_well(command + " --size 32 --seconds 0.01 --markdown");
    expect_match(outcome.out, "\n\n\\|");
    EXPECT_FALSE(matches(outcome.out, "\n\\|[^\n]*\n[^|\n]")) << outcome.out;
  }
}

TEST_F(ProgramOnADevice, RefusesSweepsThatMakeNoSense) {
  expect_all_refused({{"sweep --kernel 6 --over TSX=1:2", {"--over TSX", "no such tunable", "TSM", "WPTM"}},
                      {"sweep --kernel 6 --over WPTM=1:2 --set WPTM=4", {"--over WPTM", "--set"}},
                      {"sweep --kernel 6 --over size=8:9 --over m=8:9", {"--over size and --over m"}},
                      {"sweep --kernel 6 --over WPTM=3,5", {"no point is possible", "WPTM=3"}}});
}

}  // namespace
}  // namespace duogemm::testing
