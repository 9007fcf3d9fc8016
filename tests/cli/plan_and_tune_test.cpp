// `duogemm plan`, `tune` and `latency`, and which device the program works on.
#include "cli/program.h"

namespace duogemm::testing {
namespace {

TEST_F(ProgramOnADevice, WorksOnTheDeviceOfItsOptionsOrOfTheEnvironment) {
  const auto run_on = [&](const std::string& device, const std::string& arguments) {
    return run_shell("DUOGEMM_DEVICE='" + device + "' '" DUOGEMM_PROGRAM "' plan --size 64" + arguments);
  };
  expect_refused(run_on("vulkan", ""), {"DUOGEMM_DEVICE 'vulkan'", "runtime of this build"});
  EXPECT_EQ(run_on("vulkan", " --device 0").status, 0);
#ifdef DUOGEMM_WITH_OPENCL
  if (run("verify --kernels 1 --size 1 --backend opencl").status == 0) {
    expect_refused(run_on("opencl:99", ""), {"DUOGEMM_DEVICE 'opencl:99'", "opencl has devices 0 to"});
    EXPECT_EQ(run_on("opencl:0", "").status, 0);
    EXPECT_EQ(run_on("vulkan", " --backend opencl").status, 0);
  }
#endif
}

TEST_F(ProgramOnADevice, TimesTheFirstAndLaterCalls) {
  const std::string said = run_well("latency --size 8").out;
  expect_match(said, "first, nothing cached on disk");
  expect_match(said, "warm, until C is there");
}

TEST_F(ProgramOnADevice, TellsItsPlan) {
  const std::string said =
      run_well("plan -m 100 -n 30 -k 4000 --ops TN --batch 3 --force pipelined:TSM=32,slices=4 --top 2").out;
  for (const char* part :
       {"TSM=32", "in 4 slices of k", "workspace  144000 bytes", "reduce", "TRANS_A=1", "rank"}) {
    expect_match(said, part);
  }
  // There is a prediction where there is a cost model: not on CPUs.
  EXPECT_FALSE(matches(said, " -  ")) << said;
  expect_all_refused({{"plan --size 100 --level everywhere --force pipelined:slices=4",
                       {"slices=4", "everywhere", "4097"}}});
}

TEST_F(ProgramOnADevice, PlansForElementsOf16Bits) {
  const auto plan = result_of("plan --size 300 --a-type bf16 --b-type fp16");
  const bool on_host = plan["a_type"] == "fp32";  // where they become FP32 before
  EXPECT_EQ(plan["b_type"], on_host ? "fp32" : "fp16");
  EXPECT_EQ(plan["steps"][0]["kernel"] == "pack", !on_host) << plan;
  expect_all_refused({{"plan --size 100 --a-type bf17", {"--a-type", "bf17", "bf16"}}});
}

TEST_F(ProgramOnADevice, PlansForGroups) {
  if (std::string(result_of("plan --size 40")["device"]["backend"]) != "cpu") {
    const auto plan = result_of("plan -m 100 -n 300 -k 40 --ops TN --groups 5");
    EXPECT_EQ(plan["groups"], 5);
    EXPECT_EQ(plan["steps"][0]["kernel"], "group_tiles");
    EXPECT_EQ(plan["steps"][1]["kernel"], "grouped");
    expect_match(run_well("plan --size 40 --groups 2 --top 1").out,
                 "not [a-z_]+: it takes no grouped products");
  }
  expect_all_refused({{"plan --size 100 --groups 0", {"--groups", "0"}},
                      {"plan --size 100 --groups 2 --batch 2", {"--groups", "--batch"}}});
}

TEST_F(ProgramOnADevice, TellsWhatACallRunsAndInWhichPrecision) {
  expect_match(run_well("plan --size 40 --precision bf16x6").out, "precision  bf16x6\n");
  for (const std::string command : {"plan", "verify --gemm --kernels general"}) {
    EXPECT_EQ(result_of(command + " --size 40 --precision bf16x6")["precision"], "bf16x6");
  }
  const Outcome called = run_shell("DUOGEMM_LOG=1 '" DUOGEMM_PROGRAM "' latency --size 40 --precision f16x3");
  EXPECT_EQ(called.status, 0) << called.err;
  expect_match(called.err, "duogemm: 40 x 40 x 40 in (fp32|f16x3) runs [a-z_]+ ");
}

// The result alone stands on the standard output.
TEST_F(ProgramOnADevice, WritesEveryAnswerAsJson) {
  for (const std::string command : {"devices", "plan --size 64", "verify --kernels 1 --size 9"}) {
    const auto json = nlohmann::json::parse(run_well(command + " --json -").out);
    EXPECT_EQ(json["schema"], "duogemm." + command.substr(0, command.find(' ')) + "/1");
    expect_all_refused({{command + " --json missing/x.json", {"--json missing/x.json", "no folder"}}});
  }
}

// Settings that are no better than what the library does already are not written.
TEST_F(ProgramOnADevice, WritesWhatWins) {
  write("list.txt", "mine 40 24 56\n");
  const std::string said =
      run_well("tune --budget 15s --threads 1 --ops NN --shapes list.txt --out found.json --json t.json").out;
  EXPECT_FALSE(matches(said, "-[0-9]+ s left")) << said;
  expect_match(said, "FLOP/s of the best:");
  expect_match(said, "NN wide");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "found.json.partial"));
  const bool written = std::filesystem::exists(folder_ / "found.json");
  expect_match(said,
               written ? "what is faster than before, .* is written" : "Nothing is written to found.json");
  EXPECT_EQ(json_in("t.json")["written"], written);
  const Outcome plan = run_shell("DUOGEMM_TUNING_DIR=. '" DUOGEMM_PROGRAM "' plan -m 40 -n 24 -k 56");
  EXPECT_EQ(written, matches(plan.out, "found.json")) << plan.out;
}

TEST_F(Program, SaysWhyTuningsCannotBeKept) {
  expect_refused(run_shell("DUOGEMM_TUNING_DIR=/dev/null/x '" DUOGEMM_PROGRAM "' tune --budget 1s"),
                 {"tunings cannot be kept in /dev/null/x", "DUOGEMM_TUNING_DIR names another"});
  expect_refused(run_shell("DUOGEMM_TUNING_DIR= '" DUOGEMM_PROGRAM "' tune --budget 1s"),
                 {"no folder to keep tunings in", "DUOGEMM_TUNING_DIR is empty"});
}

TEST_F(ProgramOnADevice, DoesNotGoOnFromAFileThatIsNoTuning) {
  write("found.json", "{}");
  expect_all_refused({{"tune --budget 1s --out found.json", {"found.json", "schema"}}});
}

}  // namespace
}  // namespace duogemm::testing
