// Runs the program as a user does, each test in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "files.h"

namespace duogemm::testing {

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

// Tells whether the regular expression is found in the text.
bool matches(const std::string& text, const std::string& pattern);
void expect_match(const std::string& text, const std::string& pattern);

// That the program says in one line what it refuses, with these parts.
void expect_refused(const Outcome& outcome, const std::vector<std::string>& named);

// Arguments that are wrong, and the parts of the one line that must say so.
struct BadInput {
  std::string arguments;
  std::vector<std::string> named;
};

class Program : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // By a shell, in the test's folder.
  Outcome run_shell(const std::string& command) const;
  Outcome run(const std::string& arguments) const;
  // It must succeed.
  Outcome run_well(const std::string& arguments) const;
  // Answers what it then writes as JSON.
  nlohmann::json result_of(const std::string& arguments) const;
  nlohmann::json json_in(const std::string& file) const;
  void expect_all_refused(const std::vector<BadInput>& inputs) const;

  void write(const std::string& file, const std::string& text) const;
  std::string read(const std::string& file) const { return contents_of(folder_ / file); }
  std::vector<std::string> files() const;

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("duogemm_cli_test_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
       "_" + std::to_string(getpid()));
};

// On the best device that compiles kernels; skipped where there is none.
class ProgramOnADevice : public Program {
 protected:
  void SetUp() override;
  void TearDown() override;

  // From now on the program reads its kernels from a copy in which `from` is `to`.
  void use_kernels_with(const std::string& file, const std::string& from, const std::string& to) const;
};

}  // namespace duogemm::testing
