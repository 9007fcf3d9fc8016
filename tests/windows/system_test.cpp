// The forms that common/system/ has for Windows.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "refusal.h"
#include "system/cores.h"
#include "system/environment.h"
#include "system/files.h"
#include "system/folders.h"
#include "system/paths.h"
#include "system/shared_library.h"
#include "system/stack.h"
#include "system/temporary_directory.h"
#include "system/this_process.h"
#include "system/tools.h"

namespace duogemm::testing {
namespace {

namespace fs = std::filesystem;

class WindowsFiles : public ::testing::Test {
 protected:
  const TemporaryDirectory folder_;
};

TEST_F(WindowsFiles, HaveAnyNameInUtf8) {
  for (const std::string& name :
       {std::string("Jürgen Groß.json"), std::string("行列 .json"), std::string(200, 'a')}) {
    const fs::path folder = folder_.path() / path_of(std::string(100, 'b'));
    fs::create_directories(folder);
    const fs::path file = folder / path_of(name);
    write_file(file, "first");
    write_file(file, "second\r\n");
    EXPECT_EQ(read_file_or_reject(file), "second\r\n") << name;
    EXPECT_EQ(file.filename().string(), name);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "nothing is left besides";
    fs::remove(file);
  }
}

TEST_F(WindowsFiles, ThatCannotBeReadOrWrittenAreNamed) {
  const std::string folder = folder_.path().string();
  EXPECT_EQ(refusal([&] { read_file_or_reject(folder_.path()); }), folder + ": it is not a regular file");
  EXPECT_EQ(refusal([&] { read_file_or_reject(folder_.path() / "none"); }),
            (folder_.path() / "none").string() + ": there is no such file");
  EXPECT_NE(refusal([&] { write_file(folder_.path() / "none" / "file", ""); }).find("No such file"),
            std::string::npos);
  EXPECT_TRUE(may_write(folder_.path()));
  EXPECT_FALSE(may_write(folder_.path() / "none"));
}

TEST_F(WindowsFiles, AreReplacedWhileOthersReadThem) {
  const fs::path file = folder_.path() / "file";
  const std::string texts[] = {std::string(1000, 'a'), std::string(50'000, 'b')};
  write_file(file, texts[0]);
  std::atomic<int> wrong = 0;
  std::jthread reader([&](const std::stop_token& end) {
    while (!end.stop_requested()) {
      const std::optional<std::string> found = read_file(file);
      wrong += !found || (*found != texts[0] && *found != texts[1]);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // or there is no moment to replace it
    }
  });
  for (int i = 0; i < 100; ++i) {
    write_file(file, texts[i % 2]);
  }
  reader.request_stop();
  reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(WindowsFiles, AreLockedByOneAtATimeAndStillRead) {
  const fs::path path = folder_.path() / "trace";
  File first = File::open_or_create(path);
  EXPECT_TRUE(first.lock());
  EXPECT_TRUE(first.write_at(0, "0123456789"));
  EXPECT_TRUE(first.truncate(4));
  EXPECT_TRUE(first.write_at(2, "xy"));
  const File second = File::open_or_create(path);
  EXPECT_FALSE(second.lock());
  EXPECT_EQ(read_file(path), "01xy");
  first.close();
  EXPECT_TRUE(second.lock());
}

TEST(WindowsFolders, OfAUserAreWhereWindowsHasThem) {
  const fs::path cache = user_directory("DUOGEMM_NOT_SET", UserFolder::cache);
  EXPECT_EQ(cache, *environment_path("LOCALAPPDATA") / "duogemm");
  set_environment("DUOGEMM_OWN_FOLDER", "C:\\Jürgen");
  EXPECT_EQ(user_directory("DUOGEMM_OWN_FOLDER", UserFolder::cache).string(), "C:\\Jürgen");
}

TEST(WindowsTools, GetTheirArgumentsAndVariablesAsTheyAreGiven) {
  if (const char* const asked = std::getenv("DUOGEMM_SAY_ARGUMENTS"); asked != nullptr) {
    std::printf("<%s>", asked);
    for (const std::string& argument : ::testing::internal::GetArgvs()) {
      std::printf("<%s>", argument.c_str());
    }
    std::fflush(stdout);
    std::_Exit(7);
  }
  const std::vector<std::string> arguments = {
      "--gtest_filter=WindowsTools.*", "a b", "", "\"quoted\"", "back\\slash\\", "\\\"", "Jürgen"};
  const ToolResult result =
      run_tool(program_file(), arguments, ToolErrors::drop, {"DUOGEMM_SAY_ARGUMENTS=ü"});
  EXPECT_EQ(result.status, 7);
  EXPECT_NE(result.out.find("<ü><" + program_file().string() + ">"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("<a b><><\"quoted\"><back\\slash\\><\\\"><Jürgen>"), std::string::npos)
      << result.out;
  EXPECT_EQ(run_tool("C:\\none.exe", {}, ToolErrors::drop).status, 127);
  EXPECT_TRUE(find_tool("cmd"));
  EXPECT_FALSE(find_tool("no_such_tool"));
}

TEST(WindowsLibraries, AreTheFirstThatThereIsAndSayWhyThereIsNone) {
  const SharedLibrary library({"no_such_library.dll", "kernel32.dll"});
  unsigned long (*get_process)() = nullptr;
  ASSERT_TRUE(library.find("GetCurrentProcessId", get_process)) << library.absence();
  EXPECT_EQ(static_cast<long>(get_process()), process_id());
  EXPECT_EQ(SharedLibrary({"no_such_library.dll"}).absence().rfind("no_such_library.dll: ", 0), 0u);
}

TEST(WindowsCores, AreThoseOfTheProcess) {
  const std::vector<int> cores = cores_of_process();
  ASSERT_FALSE(cores.empty());
  leave_core(current_core());
  EXPECT_GT(host_memory_bytes(), 1u << 20);
  EXPECT_GT(free_memory_bytes("/").value_or(0), 1u << 20);
  EXPECT_NE(processor_name(), "");
}

TEST(WindowsStacks, AreAsLargeAsIsAskedFor) {
  constexpr std::size_t bytes = std::size_t{32} << 20;
  EXPECT_LT(stack_left(), bytes);
  EXPECT_GE(with_stack(bytes, stack_left), bytes);
}

}  // namespace
}  // namespace duogemm::testing
