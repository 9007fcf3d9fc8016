#include "cli/program.h"

#include <sys/wait.h>

#include <cstdlib>
#include <regex>
#include <sstream>

namespace duogemm::testing {

bool matches(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern));
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

std::vector<std::string> Program::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    names.push_back(entry.path().filename());
  }
  return names;
}

void expect_refused(const Outcome& outcome, const BadInput& bad) {
  SCOPED_TRACE(bad.arguments + " -> " + outcome.err);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  for (const std::string& part : bad.named) {
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
