// Files that are read and written whole: nobody ever finds half of one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "system/file.h"

namespace duogemm {

// Answers all of a regular file, through links; nothing where it cannot be read or is of another kind, such
// as a FIFO, of which a reader may wait forever.
std::optional<std::string> read_file(const std::filesystem::path& path);

// Does the same. Throws invalid_argument where there is nothing: "PATH: it is not a regular file".
std::string read_file_or_reject(const std::filesystem::path& path);

// Gives the file this text. A regular one that is there is replaced, through links, and keeps its mode and
// its owner. What cannot be replaced so is written in place: a device, a FIFO, one of several names of a
// file, and where the folder takes no new file. Throws invalid_argument: "PATH could not be written: REASON".
void write_file(const std::filesystem::path& path, std::string_view text);

// A file under a name of its own until it is whole. What fails answers false, with errno.
class UnfinishedFile {
 public:
  // Six letters, which no other file has, follow what the name begins with.
  UnfinishedFile(const std::filesystem::path& name_begin, File::Access access);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  bool is_open() const { return file_.is_open(); }
  const File& file() const { return file_; }
  // Gives it its name, in place of a file that has it.
  bool finish(const std::filesystem::path& path);

 private:
  std::filesystem::path name_;  // empty where there is none to remove
  File file_;
};

// Six letters, at random.
std::string six_letters();

}  // namespace duogemm
