#include "system/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <system_error>

#include "system/descriptor.h"
#include "system/reject.h"

namespace duogemm {
namespace {

std::string reason_of(int error) {
  return error == ENOENT ? "there is no such file"
                         : "it cannot be read: " + std::generic_category().message(error);
}

// Why it cannot be read; empty when all of it has been appended to `text`.
std::string append_file(const std::filesystem::path& path, std::string& text) {
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

}  // namespace

std::optional<std::string> read_file(const std::filesystem::path& path) {
  std::string text;
  return append_file(path, text).empty() ? std::optional(std::move(text)) : std::nullopt;
}

std::string read_file_or_reject(const std::filesystem::path& path) {
  std::string text;
  if (const std::string reason = append_file(path, text); !reason.empty()) {
    reject(path.string() + ": " + reason);
  }
  return text;
}

}  // namespace duogemm
