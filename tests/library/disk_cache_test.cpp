// The files of the disk cache: whatever happens to one, what is loaded is what was stored, or nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>

#include "files.h"
#include "processes.h"
#include "runtime/program_cache.h"
#include "system/temporary_directory.h"

namespace duogemm::testing {
namespace {

namespace fs = std::filesystem;

constexpr uid_t someone_else = 65534;

const std::string key = "the source\nand the device";
const std::string payload("a program\0with a zero\n in it", 28);

class DiskCacheTest : public ::testing::Test {
 protected:
  // The one file that there is.
  fs::path file() const {
    const std::vector<fs::path> files = files_in(cache_path);
    EXPECT_EQ(files.size(), 1u);
    return files.at(0);
  }
  // The file that stands where that of `key` would.
  fs::path place_of_file() const {
    cache.store(key, payload);
    fs::path place = file();
    fs::remove(place);
    return place;
  }
  void expect_miss_then_hit_after_storing() const {
    EXPECT_FALSE(cache.load(key));
    cache.store(key, payload);
    EXPECT_EQ(cache.load(key), payload);
    EXPECT_EQ(files_in(cache_path).size(), 1u);
  }

  const TemporaryDirectory directory;
  const fs::path cache_path = directory.path() / "caches" / "duogemm";
  const DiskCache cache{cache_path};
};

TEST_F(DiskCacheTest, GivesBackWhatWasStoredLast) {
  EXPECT_FALSE(cache.load(key));
  for (const std::string& stored : {payload, std::string(), std::string(3 << 20, '\n'), payload}) {
    cache.store(key, stored);
    EXPECT_EQ(cache.load(key), stored);
    EXPECT_EQ(DiskCache(cache_path).load(key), stored);
  }
  EXPECT_EQ(files_in(cache_path).size(), 1u);
}

// Some systems replace no file that another process reads.
TEST_F(DiskCacheTest, LeavesAFileAloneThatHasTheSameAlready) {
  cache.store(key, payload);
  const fs::path other_name = directory.path() / "the same file";
  fs::create_hard_link(file(), other_name);
  cache.store(key, payload);
  EXPECT_TRUE(fs::equivalent(file(), other_name));
  cache.store(key, payload + "!");
  EXPECT_FALSE(fs::equivalent(file(), other_name));
}

TEST_F(DiskCacheTest, ComparesTheKeyAndNotOnlyItsHash) {
  const fs::path place = place_of_file();
  std::string other = key;
  other.back() = 'X';
  cache.store(other, payload);
  fs::rename(file(), place);
  EXPECT_FALSE(cache.load(key));
}

TEST_F(DiskCacheTest, IsOnlyForItsUser) {
  cache.store(key, payload);
  EXPECT_EQ(fs::status(file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  for (const fs::path& made : {cache_path, cache_path.parent_path()}) {
    EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all);
  }
}

TEST_F(DiskCacheTest, IgnoresAFileThatIsNotWhole) {
  cache.store(key, payload);
  const std::string whole = contents_of(file());
  std::vector<std::string> damaged = {whole + '\0', whole + whole};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    damaged.push_back(whole.substr(0, at));
    for (int flip : {0x01, 0x80}) {
      damaged.push_back(whole);
      damaged.back()[at] = static_cast<char>(whole[at] ^ flip);
    }
  }
  for (const std::string& contents : damaged) {
    overwrite(file(), contents);
    EXPECT_FALSE(cache.load(key)) << contents;
  }
  expect_miss_then_hit_after_storing();
}

TEST_F(DiskCacheTest, IgnoresAFileThatOthersMayWrite) {
  cache.store(key, payload);
  for (mode_t mode : {0620, 0602, 0666}) {
    chmod(file().c_str(), mode);
    EXPECT_FALSE(cache.load(key)) << std::oct << mode;
  }
  chmod(file().c_str(), 0644);
  EXPECT_EQ(cache.load(key), payload);
}

TEST_F(DiskCacheTest, IgnoresALink) {
  const fs::path place = place_of_file();
  cache.store(key, payload);
  const fs::path target = directory.path() / "target";
  fs::rename(place, target);
  const std::string whole = contents_of(target);
  fs::create_symlink(target, place);
  expect_miss_then_hit_after_storing();
  EXPECT_EQ(contents_of(target), whole);
  EXPECT_FALSE(fs::is_symlink(place));
}

TEST_F(DiskCacheTest, IgnoresAFifoWithoutWaiting) {
  ASSERT_EQ(mkfifo(place_of_file().c_str(), 0600), 0);
  alarm(60);
  expect_miss_then_hit_after_storing();
  alarm(0);
}

TEST_F(DiskCacheTest, ReadsFromAReadOnlyDirectory) {
  if (geteuid() == 0) {  // whom no mode of a directory stops
    ASSERT_EQ(chown(directory.path().c_str(), someone_else, someone_else), 0);
  }
  expect_in_processes(1, [&](int) {
    if (geteuid() == 0 && setuid(someone_else) != 0) {
      return false;
    }
    cache.store(key, payload);
    chmod(cache_path.c_str(), 0500);
    cache.store("another key", payload);
    cache.store(key, "another payload");
    const bool right = cache.load(key) == payload && !cache.load("another key");
    const bool clean = files_in(cache_path).size() == 1;
    chmod(cache_path.c_str(), 0700);
    return right && clean;
  });
}

TEST_F(DiskCacheTest, LeavesNothingBehindWhenAFileCannotGrow) {
  expect_in_processes(1, [&](int) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    cache.store(key, payload);
    cache.store(key, std::string(5000, 'x'));
    cache.store("another key", std::string(5000, 'x'));
    return cache.load(key) == payload && !cache.load("another key") && files_in(cache_path).size() == 1;
  });
}

// A writer stores one letter throughout, of a length that goes with the letter: half of one payload
// and half of another, or a key's payload under another key, would show.
std::string letters(int key_number, int writer) {
  const char letter = static_cast<char>('A' + 8 * key_number + writer);
  return std::string(static_cast<std::size_t>(20000 + 1000 * writer), letter);
}

TEST_F(DiskCacheTest, ServesThreadsAndProcessesAtOnce) {
  constexpr int keys = 3;
  constexpr int processes = 4;
  const auto is_of_some_writer = [](const std::string& loaded, int key_number) {
    const auto letter = loaded.empty() ? 0 : loaded.front() - 'A' - 8 * key_number;
    return letter >= 0 && letter < processes && loaded == letters(key_number, letter);
  };
  expect_in_processes(processes, [&](int process) {
    return in_threads(3, [&](int thread) {
      bool all = true;
      for (int turn = 0; turn < 60; ++turn) {
        const int key_number = (turn + thread) % keys;
        const std::string name = "key " + std::to_string(key_number);
        cache.store(name, letters(key_number, process));
        const std::optional<std::string> loaded = cache.load(name);
        all = all && loaded && is_of_some_writer(*loaded, key_number);
      }
      return all;
    });
  });
  EXPECT_EQ(files_in(cache_path).size(), static_cast<std::size_t>(keys));
}

// A process that was killed while it wrote leaves its file there.
TEST_F(DiskCacheTest, RemovesOldFilesThatNobodyFinished) {
  cache.store(key, payload);
  const fs::path before = file();
  const auto make = [&](const std::string& name, std::chrono::hours age) {
    std::ofstream(cache_path / name) << "half of a program";
    fs::last_write_time(cache_path / name, fs::file_time_type::clock::now() - age);
  };
  make("new-aB3xYz", std::chrono::hours(2));
  make("new-zzzzzz", std::chrono::hours(0));  // somebody may be writing it
  make("new-longer-name", std::chrono::hours(2));
  make("notes.txt", std::chrono::hours(2));
  fs::create_symlink("notes.txt", cache_path / "new-symlin");
  fs::last_write_time(before, fs::file_time_type::clock::now() - std::chrono::hours(99));
  cache.store("another key", payload);
  EXPECT_FALSE(fs::exists(cache_path / "new-aB3xYz"));
  for (const char* name : {"new-zzzzzz", "new-longer-name", "notes.txt", "new-symlin"}) {
    EXPECT_TRUE(fs::exists(cache_path / name)) << name;
  }
  EXPECT_EQ(cache.load(key), payload);
}

struct Folders {
  const char* ours;
  const char* xdg;
  const char* home;
  const char* expected;
};

TEST(CacheDirectory, IsOursThenXdgsThenTheHomesOne) {
  const auto set = [](const char* name, const char* value) {
    value ? setenv(name, value, 1) : unsetenv(name);
  };
  for (const Folders& each : {Folders{"/ours", "/xdg", "/home", "/ours"},
                              {"ours", "/xdg", "/home", "ours"},
                              {"", "/xdg", "/home", ""},
                              {nullptr, "/xdg", "/home", "/xdg/duogemm"},
                              {nullptr, "not absolute", "/home", "/home/.cache/duogemm"},
                              {nullptr, "", "/home", "/home/.cache/duogemm"},
                              {nullptr, nullptr, "/home", "/home/.cache/duogemm"},
                              {nullptr, nullptr, "", ""},
                              {nullptr, nullptr, nullptr, ""}}) {
    SCOPED_TRACE(each.expected);
    expect_in_processes(1, [&](int) {
      set("DUOGEMM_CACHE_DIR", each.ours);
      set("XDG_CACHE_HOME", each.xdg);
      set("HOME", each.home);
      return cache_directory() == each.expected;
    });
  }
}

}  // namespace
}  // namespace duogemm::testing
