// Writes files whole: nobody ever finds half of one.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "system/descriptor.h"

namespace duogemm {

// A file under a name of its own until it is whole. It goes with its scope unless it was finished. What fails
// answers false, with errno.
class UnfinishedFile {
 public:
  // Six letters, which no other file has, follow what the name begins with.
  UnfinishedFile(const std::string& name_begin, mode_t mode);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  bool is_open() const { return file_.is_open(); }
  const Descriptor& descriptor() const { return file_; }
  // Gives it its name, in place of a file that has it.
  bool finish(const std::filesystem::path& path);

 private:
  std::string name_;  // empty where there is none to remove
  Descriptor file_;
};

// Gives the file this text. A regular one that is there is replaced, through links, and keeps its mode and
// its owner. What cannot be replaced so is written in place: a device, a FIFO, one of several names of a
// file, and where the folder takes no new file. Throws invalid_argument: "PATH could not be written: REASON".
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace duogemm
