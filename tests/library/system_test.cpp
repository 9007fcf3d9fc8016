// Files are read and written whatever stands where they are, and JSON is taken from them; and shared
// libraries are opened.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "files.h"
#include "processes.h"
#include "refusal.h"
#include "system/files.h"
#include "system/parse_json.h"
#include "system/shared_library.h"
#include "system/temporary_directory.h"

namespace duogemm::testing {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  fs::path in_folder(const std::string& name) const { return folder_.path() / name; }
  void expect_nothing_besides(std::size_t count) const { EXPECT_EQ(files_in(folder_.path()).size(), count); }
  static mode_t mode_of(const fs::path& file) {
    struct stat status {};
    EXPECT_EQ(stat(file.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  const TemporaryDirectory folder_;
  const fs::path file_ = folder_.path() / "file.json";
};

TEST_F(Files, AreReadThroughLinksAndWhateverTheirSizeSays) {
  overwrite(file_, std::string(100'000, 'x'));
  fs::create_symlink("file.json", in_folder("link"));
  EXPECT_EQ(read_file(in_folder("link")), std::string(100'000, 'x'));
  EXPECT_EQ(read_file_or_reject("/proc/self/comm").back(), '\n') << "which is 0 bytes long";
}

TEST_F(Files, OfOtherKindsAreNotReadAndSaidSo) {
  ASSERT_EQ(mkfifo(in_folder("fifo").c_str(), 0600), 0);
  fs::create_symlink("nowhere", in_folder("dangling"));
  for (const auto& [path, reason] : {std::pair(in_folder("fifo"), "it is not a regular file"),
                                     {folder_.path(), "it is not a regular file"},
                                     {"/dev/zero", "it is not a regular file"},
                                     {in_folder("dangling"), "there is no such file"},
                                     {in_folder("missing"), "there is no such file"}}) {
    EXPECT_EQ(read_file(path), std::nullopt) << path;
    EXPECT_EQ(refusal([&path = path] { read_file_or_reject(path); }), path.string() + ": " + reason);
  }
}

TEST_F(Files, KeepTheirModeAndTheirLinks) {
  write_file(file_, "first");
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(mode_of(file_), 0666 & ~mask);
  for (const mode_t mode : {0600, 0640, 0666}) {
    ASSERT_EQ(chmod(file_.c_str(), mode), 0);
    write_file(file_, "second");
    EXPECT_EQ(mode_of(file_), mode);
  }
  fs::create_symlink("file.json", in_folder("link"));
  fs::create_symlink("target", in_folder("dangling"));
  fs::create_hard_link(file_, in_folder("other name"));
  write_file(in_folder("link"), "third");
  write_file(in_folder("dangling"), "fourth");
  EXPECT_TRUE(fs::is_symlink(in_folder("link")) && fs::is_symlink(in_folder("dangling")));
  EXPECT_EQ(contents_of(file_), "third");
  EXPECT_EQ(contents_of(in_folder("other name")), "third");
  EXPECT_EQ(contents_of(in_folder("target")), "fourth");
  expect_nothing_besides(5);
}

TEST_F(Files, AreLeftAloneWhereTheyCannotBeWritten) {
  EXPECT_EQ(refusal([] { write_file("/dev/full", "text"); }),
            "/dev/full could not be written: No space left on device");
  EXPECT_EQ(refusal([&] { write_file(in_folder("none") / "file", "text"); }),
            (in_folder("none") / "file").string() + " could not be written: No such file or directory");
  EXPECT_EQ(refusal([&] { write_file(folder_.path(), "text"); }),
            folder_.path().string() + " could not be written: Is a directory");
  overwrite(file_, "precious");
  ASSERT_EQ(chmod(file_.c_str(), 0444), 0);
  if (geteuid() != 0) {
    EXPECT_EQ(refusal([&] { write_file(file_, "text"); }),
              file_.string() + " could not be written: Permission denied");
    EXPECT_EQ(contents_of(file_), "precious");
  }
  expect_nothing_besides(1);
}

// In processes and threads: each text is there whole, and none fails.
TEST_F(Files, HaveAnyNumberOfWriters) {
  expect_in_processes(4, [&](int) {
    return in_threads(4, [&](int thread) {
      try {
        for (int i = 0; i < 50; ++i) {
          write_file(file_, std::string(20'000, static_cast<char>('a' + thread)));
        }
        return true;
      } catch (const Error&) {
        return false;
      }
    });
  });
  const std::string found = contents_of(file_);
  EXPECT_EQ(found, std::string(20'000, found.front()));
  expect_nothing_besides(1);
}

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') +
         std::string(static_cast<std::size_t>(levels), ']');
}

TEST(ParseJson, TakesNoDocumentThatIsNestedWithoutEnd) {
  EXPECT_EQ(parse_json(nested(deepest_json)).dump(), nested(deepest_json));
  for (const int levels : {deepest_json + 1, 100'000}) {
    EXPECT_EQ(refusal([&] { parse_json(nested(levels)); }), "this JSON is nested deeper than 64 levels");
    EXPECT_EQ(refusal([&] { parse_json("{\"a\":" + nested(levels) + "}"); }),
              "this JSON is nested deeper than 64 levels");
  }
}

TEST(ParseJson, ChangesNoNumber) {
  const auto integer = [](const char* text) { return integer_of(parse_json(text), "m", -5, 7); };
  EXPECT_EQ(integer("-5"), -5);
  EXPECT_EQ(integer("7"), 7);
  for (const std::string text :
       {"-6", "8", "7.0", "1e2", "4294967296", "18446744073709551615", "true", "\"1\"", "null", "[1]"}) {
    EXPECT_TRUE(refusal([&] { integer(text.c_str()); }).ends_with("; it must be a whole number from -5 to 7"))
        << text;
  }
  EXPECT_EQ(number_of(parse_json("2"), "us", 0.0, 10.0), 2.0);
  EXPECT_EQ(refusal([] { number_of(parse_json("-1"), "us", 0.0, 10.0); }),
            "us is -1; it must be a number from 0 to 10");
  const std::string shown = refusal([] { integer_of(parse_json('"' + std::string(1000, 'x') + '"'), "m"); });
  EXPECT_LT(shown.size(), 200u);
}

TEST(SharedLibraries, AreTheFirstThatThereIs) {
  const SharedLibrary library({"libnowhere.so.1", "libm.so.6"});
  double (*cosine)(double) = nullptr;
  ASSERT_TRUE(library.is_open()) << library.absence();
  ASSERT_TRUE(library.find("cos", cosine));
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_FALSE(library.find("no_such_function", cosine));
  EXPECT_EQ(cosine, nullptr);
}

TEST(SharedLibraries, SayWhyThereIsNone) {
  const SharedLibrary library({"libnowhere.so.1", "libnowhere.so.0"});
  void (*function)() = nullptr;
  EXPECT_FALSE(library.is_open());
  EXPECT_FALSE(library.find("free", function));
  EXPECT_NE(library.absence().find("libnowhere.so.1"), std::string::npos) << library.absence();
}

}  // namespace
}  // namespace duogemm::testing
