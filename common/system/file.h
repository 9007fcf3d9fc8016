// An open file, whatever the system. What fails answers false, or nothing, with errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace duogemm {

struct FileFacts {
  bool is_regular;
  bool is_private;  // only this user can have written it
  std::uint64_t bytes;
  std::time_t written;
};

class File {
 public:
  enum class Links { follow, refuse };
  enum class Access { everybody, owner };  // everybody: whom the process's umask lets

  File() = default;
  ~File() { close(); }
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }

  // Each answers a file that is not open where that fails. To read, no FIFO's writer is waited for.
  static File to_read(const std::filesystem::path& path, Links links);
  static File create(const std::filesystem::path& path, Access access);  // one that nobody has, to write
  static File overwrite(const std::filesystem::path& path);              // to write, empty, or what is there
  static File open_or_create(const std::filesystem::path& path);         // to read and write

  bool is_open() const { return number_ >= 0; }
  // Some file systems say only here that the disk is full.
  bool close();
  std::optional<FileFacts> facts() const;

  // Answers how many bytes there were; 0 at the end of the file, and below 0 where that fails.
  std::ptrdiff_t read_some(char* to, std::size_t bytes) const;
  bool read_all(char* to, std::size_t bytes) const;
  bool write_all(std::string_view bytes) const;
  bool write_at(std::uint64_t offset, std::string_view bytes) const;
  bool truncate(std::uint64_t bytes) const;
  // Answers whether this process has the file now: not where another has it.
  bool lock() const;
  // Gives it the owner and the mode that the other one has.
  bool take_owner_and_mode(const std::filesystem::path& other) const;

 private:
  explicit File(int number) : number_(number) {}

  int number_ = -1;  // a file descriptor
};

// Gives a file its name, in place of one that has it.
bool rename_over(const std::filesystem::path& from, const std::filesystem::path& to);

// Answers whether the file may be written, or files be made in the folder.
bool may_write(const std::filesystem::path& path);

}  // namespace duogemm
