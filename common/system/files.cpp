#include "system/files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <system_error>

#include "system/reject.h"

namespace duogemm {
namespace {

namespace fs = std::filesystem;

constexpr int attempts = 100;
constexpr mode_t mode_of_new_files = 0666;  // less what the process's umask takes

std::string reason_of(int error) {
  return error == ENOENT ? "there is no such file"
                         : "it cannot be read: " + std::generic_category().message(error);
}

// Why it cannot be read; empty when all of it has been appended to `text`.
std::string append_file(const fs::path& path, std::string& text) {
  // Not blocking: opening a FIFO would wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status;
  if (!file.is_open() || fstat(file.get(), &status) != 0) {
    return reason_of(errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return "it is not a regular file";
  }
  std::array<char, 1 << 16> piece;
  while (true) {  // files of /proc do not tell how long they are
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count > 0) {
      text.append(piece.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      return "";
    } else if (errno != EINTR) {
      return reason_of(errno);
    }
  }
}

std::string six_letters() {
  std::string letters;
  std::random_device random;
  for (int i = 0; i < 6; ++i) {
    letters += static_cast<char>('a' + random() % 26);
  }
  return letters;
}

// The descriptor of a file that nobody has, with its name; -1 and none where there cannot be one.
int create(const std::string& name_begin, mode_t mode, std::string& name) {
  for (int i = 0; i < attempts; ++i) {
    name = name_begin + six_letters();
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0) {
      return file;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  name.clear();
  return -1;
}

bool write_in_place(const fs::path& path, std::string_view text) {
  Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, mode_of_new_files));
  return file.is_open() && write_all(file, text) && file.close();
}

// `old` is what is there, null for nothing.
bool replace(const fs::path& path, const struct stat* old, std::string_view text) {
  UnfinishedFile file(path.string() + ".unfinished-", old == nullptr ? mode_of_new_files : 0600);
  if (!file.is_open()) {
    return write_in_place(path, text);
  }
  if (old != nullptr && (::fchown(file.descriptor().get(), old->st_uid, old->st_gid) != 0 ||
                         ::fchmod(file.descriptor().get(), old->st_mode & 07777) != 0)) {
    return write_in_place(path, text);
  }
  return write_all(file.descriptor(), text) && file.finish(path);
}

bool write_whole(const fs::path& path, std::string_view text) {
  struct stat there;
  if (::stat(path.c_str(), &there) != 0) {
    return fs::is_symlink(fs::symlink_status(path)) ? write_in_place(path, text)
                                                    : replace(path, nullptr, text);
  }
  if (::access(path.c_str(), W_OK) != 0) {
    return false;  // renaming would not ask
  }
  std::error_code failed;
  const fs::path itself = fs::canonical(path, failed);
  const bool replaceable = S_ISREG(there.st_mode) && there.st_nlink == 1 && !failed;
  return replaceable ? replace(itself, &there, text) : write_in_place(path, text);
}

fs::path environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::optional<std::string> read_file(const fs::path& path) {
  std::string text;
  return append_file(path, text).empty() ? std::optional(std::move(text)) : std::nullopt;
}

std::string read_file_or_reject(const fs::path& path) {
  std::string text;
  if (const std::string reason = append_file(path, text); !reason.empty()) {
    reject(path.string() + ": " + reason);
  }
  return text;
}

bool write_all(const Descriptor& file, std::string_view bytes) {
  return transfer_all(bytes.size(), [&](std::size_t done) {
    return ::write(file.get(), bytes.data() + done, bytes.size() - done);
  });
}

UnfinishedFile::UnfinishedFile(const std::string& name_begin, mode_t mode)
    : file_(create(name_begin, mode, name_)) {}

UnfinishedFile::~UnfinishedFile() {
  if (!name_.empty()) {
    const int error = errno;
    ::unlink(name_.c_str());
    errno = error;
  }
}

bool UnfinishedFile::finish(const fs::path& path) {
  const bool done = file_.close() && std::rename(name_.c_str(), path.c_str()) == 0;
  if (done) {
    name_.clear();
  }
  return done;
}

void write_file(const fs::path& path, std::string_view text) {
  if (!write_whole(path, text)) {
    reject(path.string() + " could not be written: " + std::generic_category().message(errno));
  }
}

fs::path user_directory(const char* own, const char* xdg, const char* in_home, const char* folder) {
  if (std::getenv(own) != nullptr) {
    return environment(own);
  }
  // The specification: a path that is not absolute is to be ignored.
  if (const fs::path shared = environment(xdg); shared.is_absolute()) {
    return shared / folder;
  }
  const fs::path home = environment("HOME");
  return home.is_absolute() ? home / in_home / folder : fs::path();
}

}  // namespace duogemm
