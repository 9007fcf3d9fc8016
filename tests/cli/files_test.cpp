// The program is to write or read a file where something else stands.
#include <sys/stat.h>

#include "cli/program.h"

namespace duogemm::testing {
namespace {

namespace fs = std::filesystem;

// The program for the shell, which ends it where it waits for what never comes.
const std::string program = "timeout 60 '" DUOGEMM_PROGRAM "' ";

class ProgramWrites : public Program {
 protected:
  static bool is_result(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    return json.is_object() && json.value("schema", "") == "duogemm.devices/1";
  }
  bool is_result_in(const std::string& file) const { return is_result(read(file)); }
};

TEST_F(ProgramWrites, IntoDevicesAndPipes) {
  EXPECT_EQ(run("devices --json /dev/null").status, 0);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  const Outcome outcome =
      run_shell("(cat fifo >copy.json & '" DUOGEMM_PROGRAM "' devices --json fifo; wait)");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(is_result_in("copy.json") && fs::is_fifo(folder_ / "fifo"));
  if (run_shell("bash -c true").status == 0) {
    run_shell("bash -c \"'" DUOGEMM_PROGRAM "' devices --json >(cat >substituted.json); wait \\$!\"");
    EXPECT_TRUE(is_result_in("substituted.json"));
  }
}

// A comparison has a result after each list, and a FIFO takes one.
TEST_F(ProgramOnADevice, WritesTheLastResultAloneIntoAFifo) {
  write("one.txt", "first 8 8 8\n");
  write("two.txt", "second 9 9 9\n");
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  const Outcome outcome =
      run_shell("(cat fifo >copy.json & " + program +
                "compare --shapes one.txt two.txt --against none --seconds 0.001 --json fifo; wait)");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json_in("copy.json")["runs"][0]["rows"].size(), 2u);
}

TEST_F(ProgramWrites, NothingByHalves) {
  const Outcome outcome = run("devices --json /dev/full");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "duogemm: /dev/full could not be written: No space left on device\n");
}

// Whatever is in the folder for tunings, a call is served, and a line says which file is passed over and why.
TEST_F(ProgramOnADevice, PassesOverWhatIsNoTuningFile) {
  const fs::path folder = folder_ / "tunings";
  fs::create_directories(folder / "folder.json");
  ASSERT_EQ(mkfifo((folder / "fifo.json").c_str(), 0600), 0);
  fs::create_symlink("nowhere", folder / "dangling.json");
  overwrite(folder / "deep.json", std::string(100'000, '[') + std::string(100'000, ']'));
  overwrite(folder / "half.json", "{\"schema\": \"duogemm.tun");
  const Outcome outcome = run_shell("DUOGEMM_TUNING_DIR=tunings " + program + "plan --size 64");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const std::string line :
       {"folder.json: it is not a regular file", "fifo.json: it is not a regular file",
        "dangling.json: there is no such file", "deep.json: this JSON is nested deeper than 64 levels",
        "half.json: this is no JSON from column 24 on"}) {
    EXPECT_NE(outcome.err.find("duogemm: this tuning file is passed over: tunings/" + line + "\n"),
              std::string::npos)
        << line << " -> " << outcome.err;
  }
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 5) << outcome.err;
}

}  // namespace
}  // namespace duogemm::testing
