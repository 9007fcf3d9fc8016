// duogemm report --share: copies of result files that may be sent.
#include <unistd.h>

#include <array>

#include "cli/program.h"

namespace duogemm::testing {
namespace {

constexpr const char* copy_name = "some_device_r_opencl_ladder.json";

class ProgramShares : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    auto document = nlohmann::ordered_json::parse(R"json({
      "schema": "duogemm.ladder/1", "version": "0.1.0", "date": "2026-11-25T14:17:00Z",
      "runs": [{"device": {"name": "Some device(R)", "backend": "opencl", "driver": "3.1"}, "warnings": [],
                "rows": [{"rung": "1", "kernel": "naive", "tunables": {"TS": 32}, "gflops": 1.84}]}]})json");
    write("clean.json", document.dump(1) + "\n");
    document["runs"][0]["warnings"] = {"read from /home/alice/duogemm/kernels", "run on " + host()};
    write("private.json", document.dump());
  }

  static std::string host() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
  }
};

TEST_F(ProgramShares, SeveralFilesAtOnce) {
  const Outcome outcome = run_well("report --share clean.json private.json -o out");
  expect_match(outcome.out, "\nNext: ");
  EXPECT_NE(outcome.out.find(copy_name), std::string::npos) << outcome.out;
  EXPECT_EQ(contents_of(folder_ / "out" / copy_name), read("clean.json")) << "a clean file has changed";
  const std::string second = contents_of(folder_ / "out" / "some_device_r_opencl_ladder_2.json");
  EXPECT_NE(second.find("read from PATH"), std::string::npos);
  EXPECT_EQ(second.find("alice"), std::string::npos);
  // A name that every machine has stays.
  EXPECT_EQ(second.find("run on HOST") == std::string::npos, host().size() < 2 || host() == "localhost");
}

TEST_F(ProgramShares, ReplacesNoCopy) {
  write(copy_name, "precious");
  expect_refused(run("report --share private.json"), {copy_name, "is there already", "-o"});
  EXPECT_EQ(read(copy_name), "precious");
}

TEST_F(ProgramShares, WritesNothingWhereOneFileIsBad) {
  write("bad.json", "no json");
  write("other.json", R"({"schema": "duogemm.trace/1"})");
  write("half.json", R"({"schema": "duogemm.ladder/1"})");
  expect_refused(run("report --share clean.json bad.json -o out"), {"bad.json", "no JSON"});
  expect_refused(run("report --share clean.json other.json -o out"), {"other.json", "duogemm.ladder/1"});
  expect_refused(run("report --share clean.json half.json -o out"), {"half.json", "device"});
  expect_refused(run("report clean.json"), {"-o FOLDER", "--share"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
}  // namespace duogemm::testing
