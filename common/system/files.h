// Files that are read and written whole: nobody ever finds half of one.
// The directories of a user's own files.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

// An open file.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }
  // Some file systems say only here that the disk is full.
  bool close() { return is_open() && ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

// Calls `transfer(done)` until `size` bytes are done; false when it fails or comes to an end before.
template <typename Transfer>
bool transfer_all(std::size_t size, Transfer transfer) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = transfer(done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool write_all(const Descriptor& file, std::string_view bytes);

// A file under a name of its own until it is whole. What fails answers false, with errno.
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

// The directory that the environment variable `own` names; without it, `folder` in the one that the variable
// `xdg` names or else in the folder `in_home` of the home directory (XDG base directory specification). Empty
// when `own` is set but empty, or when none of the three is set.
std::filesystem::path user_directory(const char* own, const char* xdg, const char* in_home,
                                     const char* folder = "duogemm");

}  // namespace duogemm
