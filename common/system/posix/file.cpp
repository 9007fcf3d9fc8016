#include "system/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace duogemm {
namespace {

constexpr mode_t of_everybody = 0666;  // less what the process's umask takes
constexpr mode_t of_owner = 0600;

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

}  // namespace

File File::to_read(const std::filesystem::path& path, Links links) {
  const int no_links = links == Links::refuse ? O_NOFOLLOW : 0;
  return File(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | no_links));
}

File File::create(const std::filesystem::path& path, Access access) {
  return File(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                     access == Access::owner ? of_owner : of_everybody));
}

File File::overwrite(const std::filesystem::path& path) {
  return File(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, of_everybody));
}

File File::open_or_create(const std::filesystem::path& path) {
  return File(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, of_everybody));
}

bool File::close() { return is_open() && ::close(std::exchange(number_, -1)) == 0; }

std::optional<FileFacts> File::facts() const {
  struct stat status;
  if (!is_open() || fstat(number_, &status) != 0) {
    return std::nullopt;
  }
  const bool is_regular = S_ISREG(status.st_mode);
  const bool is_private =
      is_regular && status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return FileFacts{is_regular, is_private, static_cast<std::uint64_t>(status.st_size), status.st_mtime};
}

std::ptrdiff_t File::read_some(char* to, std::size_t bytes) const {
  ssize_t count = 0;
  do {
    count = ::read(number_, to, bytes);
  } while (count < 0 && errno == EINTR);
  return count;
}

bool File::read_all(char* to, std::size_t bytes) const {
  return transfer_all(bytes, [&](std::size_t done) { return ::read(number_, to + done, bytes - done); });
}

bool File::write_all(std::string_view bytes) const {
  return transfer_all(bytes.size(), [&](std::size_t done) {
    return ::write(number_, bytes.data() + done, bytes.size() - done);
  });
}

bool File::write_at(std::uint64_t offset, std::string_view bytes) const {
  return transfer_all(bytes.size(), [&](std::size_t done) {
    return pwrite(number_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
  });
}

bool File::truncate(std::uint64_t bytes) const { return ftruncate(number_, static_cast<off_t>(bytes)) == 0; }

bool File::lock() const { return flock(number_, LOCK_EX | LOCK_NB) == 0; }

bool File::take_owner_and_mode(const std::filesystem::path& other) const {
  struct stat status;
  return ::stat(other.c_str(), &status) == 0 && fchown(number_, status.st_uid, status.st_gid) == 0 &&
         fchmod(number_, status.st_mode & 07777) == 0;
}

bool rename_over(const std::filesystem::path& from, const std::filesystem::path& to) {
  return std::rename(from.c_str(), to.c_str()) == 0;
}

bool may_write(const std::filesystem::path& path) {
  std::error_code unknown;
  return ::access(path.c_str(), std::filesystem::is_directory(path, unknown) ? W_OK | X_OK : W_OK) == 0;
}

}  // namespace duogemm
