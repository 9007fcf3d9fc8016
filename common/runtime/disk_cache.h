// Bytes kept in files from one process to the next: a directory with one file per key. Whatever is wrong with
// a file or with the directory, the worst that happens is that nothing is found.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace duogemm {

// May be used by any number of threads and processes at once.
class DiskCache {
 public:
  // An empty path turns the cache off. The directory is made when something is first stored.
  explicit DiskCache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  bool enabled() const { return !directory_.empty(); }
  // Answers what was stored last under the key; nothing unless every byte of key and payload is as it was
  // stored, by this user, in a regular file that nobody else may write to.
  std::optional<std::string> load(std::string_view key) const;
  // Replaces what is there, wholly or not at all. A failure is only logged.
  void store(std::string_view key, std::string_view payload) const;

 private:
  std::filesystem::path file_of(std::string_view key) const;

  std::filesystem::path directory_;
};

// Programs are cached in DUOGEMM_CACHE_DIR, else $XDG_CACHE_HOME/duogemm, else $HOME/.cache/duogemm.
// Empty when DUOGEMM_CACHE_DIR is set but empty, or when none of the three is set.
std::filesystem::path cache_directory();

}  // namespace duogemm
