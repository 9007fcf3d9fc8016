// What the program makes of whatever stands where it is to write or read a file.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

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
  bool is_result_in(const std::string& file) const { return is_result(contents_of(folder_ / file)); }
  void expect_written(const std::string& place) const {
    const Outcome outcome = run("devices --json " + place);
    EXPECT_EQ(outcome.status, 0) << place << ": " << outcome.err;
  }
};

TEST_F(ProgramWrites, OverFilesAsTheyAre) {
  overwrite(folder_ / "file.json", "old");
  ASSERT_EQ(chmod((folder_ / "file.json").c_str(), 0600), 0);
  fs::create_symlink("file.json", folder_ / "link.json");
  fs::create_symlink("target.json", folder_ / "dangling.json");
  expect_written("link.json");
  expect_written("dangling.json");
  EXPECT_TRUE(is_result_in("file.json") && is_result_in("target.json"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json") && fs::is_symlink(folder_ / "dangling.json"));
  EXPECT_EQ(fs::status(folder_ / "file.json").permissions(), fs::perms(0600));
  EXPECT_EQ(files().size(), 4u);
}

TEST_F(ProgramWrites, IntoDevicesAndPipes) {
  expect_written("/dev/null");
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

// A comparison writes its result whenever a list is done. The reader of a FIFO goes after the first.
TEST_F(ProgramOnADevice, WritesOnceIntoAFifo) {
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  overwrite(folder_ / "one.txt", "cube 8 8 8\n");
  overwrite(folder_ / "two.txt", "small 3 2 1\n");
  const Outcome outcome =
      run_shell("(cat fifo >copy.json & " + program +
                "compare --shapes one.txt,two.txt --against none --seconds 0.001 --json fifo && wait)");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(contents_of(folder_ / "copy.json"));
  EXPECT_EQ(json["runs"][0]["rows"].size(), 2u);
}

TEST_F(ProgramWrites, AllOfSeveralAtOnce) {
  const Outcome outcome = run_shell("(for i in 1 2 3 4 5 6 7 8 9 10; do ('" DUOGEMM_PROGRAM
                                    "' devices --json r.json || echo failed) & done; wait)");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out.find("failed"), std::string::npos) << outcome.out;
  EXPECT_TRUE(is_result_in("r.json"));
  EXPECT_EQ(files().size(), 1u);
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

TEST_F(Program, ReadsNoFileOfAnotherKind) {
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  fs::create_directories(folder_ / "folder");
  for (const std::string place : {"fifo", "folder"}) {
    for (const std::string command : {"report --share ", "tune --budget 1s --from "}) {
      expect_refused(run_shell(program + command + place),
                     {command + place, {place, "it is not a regular file"}});
    }
    expect_refused(run_shell(program + "compare --shapes " + place),
                   {"compare --shapes " + place, {place, "no such file"}});
  }
  overwrite(folder_ / "deep.json", std::string(100'000, '[') + std::string(100'000, ']'));
  for (const std::string command : {"report --share ", "tune --budget 1s --from "}) {
    expect_refused(run(command + "deep.json"), {command, {"deep.json", "nested deeper than 64 levels"}});
  }
}

TEST_F(ProgramOnADevice, ReplaysNoFileOfAnotherKind) {
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  expect_refused(run_shell(program + "replay fifo"), {"replay fifo", {"fifo: it is not a regular file"}});
  overwrite(folder_ / "deep.jsonl", std::string(100'000, '[') + std::string(100'000, ']'));
  expect_refused(run("replay deep.jsonl"), {"replay deep.jsonl", {"deep.jsonl:1: this JSON is nested"}});
}

}  // namespace
}  // namespace duogemm::testing
