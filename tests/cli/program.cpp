#include "cli/program.h"

#include <sys/wait.h>

#include <cstdlib>
#include <regex>
#include <sstream>

namespace duogemm::testing {

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern));
}

void expect_match(const std::string& text, const std::string& pattern) {
  EXPECT_TRUE(matches(text, pattern)) << pattern << " is not in\n" << text;
}

Outcome Program::run_shell(const std::string& command) const {
  const std::string redirected = "cd '" + folder_.string() + "' && " + command + " >stdout.txt 2>stderr.txt";
  const int status = std::system(redirected.c_str());
  Outcome outcome{WEXITSTATUS(status), contents_of(folder_ / "stdout.txt"),
                  contents_of(folder_ / "stderr.txt")};
  std::filesystem::remove(folder_ / "stdout.txt");
  std::filesystem::remove(folder_ / "stderr.txt");
  return outcome;
}

Outcome Program::run(const std::string& arguments) const {
  return run_shell("'" DUOGEMM_PROGRAM "' " + arguments);
}

Outcome Program::run_well(const std::string& arguments) const {
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.status, 0) << arguments << "\n" << outcome.out << outcome.err;
  return outcome;
}

nlohmann::json Program::result_of(const std::string& arguments) const {
  run_well(arguments + " --json r.json");
  return json_in("r.json");
}

nlohmann::json Program::json_in(const std::string& file) const { return nlohmann::json::parse(read(file)); }

void Program::expect_all_refused(const std::vector<BadInput>& inputs) const {
  for (const BadInput& bad : inputs) {
    SCOPED_TRACE(bad.arguments);
    expect_refused(run(bad.arguments), bad.named);
  }
}

void Program::write(const std::string& file, const std::string& text) const {
  overwrite(folder_ / file, text);
}

std::vector<std::string> Program::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

void expect_refused(const Outcome& outcome, const std::vector<std::string>& named) {
  SCOPED_TRACE(outcome.err);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  for (const std::string& part : named) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part;
  }
}

void ProgramOnADevice::SetUp() {
  Program::SetUp();
  static const std::string listed = run("devices").out;
  const char* const device = matches(listed, "\ncuda0 ") ? "cuda" : "opencl";
  if (!matches(listed, std::string("\n") + device + "0 ")) {
    GTEST_SKIP() << "no device that compiles was found";
  }
  setenv("DUOGEMM_DEVICE", device, 0);
  static const bool works = run("verify --kernels 1 --size 1").status == 0;
  if (!works) {
    GTEST_SKIP() << device << " does not work";
  }
}

void ProgramOnADevice::TearDown() {
  unsetenv("DUOGEMM_KERNEL_DIR");
  unsetenv("DUOGEMM_DEVICE");
  Program::TearDown();
}

void ProgramOnADevice::use_kernels_with(const std::string& file, const std::string& from,
                                        const std::string& to) const {
  plant_mistake(DUOGEMM_SOURCE, folder_, file, from, to);
  setenv("DUOGEMM_KERNEL_DIR", folder_.c_str(), 1);
}

}  // namespace duogemm::testing
