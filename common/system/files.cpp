#include "system/files.h"

#include <array>
#include <cerrno>
#include <random>
#include <system_error>

#include "system/reject.h"

namespace duogemm {
namespace {

namespace fs = std::filesystem;

constexpr int attempts = 100;

std::string reason_of(int error) {
  return error == ENOENT ? "there is no such file"
                         : "it cannot be read: " + std::generic_category().message(error);
}

// Why it cannot be read; empty when all of it has been appended to `text`.
std::string append_file(const fs::path& path, std::string& text) {
  const File file = File::to_read(path, File::Links::follow);
  const std::optional<FileFacts> facts = file.facts();
  if (!facts) {
    return reason_of(errno);
  }
  if (!facts->is_regular) {
    return "it is not a regular file";
  }
  std::array<char, 1 << 16> piece;
  std::ptrdiff_t count = 0;
  // Until there is no more: files of /proc do not tell how long they are.
  while ((count = file.read_some(piece.data(), piece.size())) > 0) {
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return count == 0 ? "" : reason_of(errno);
}

// A file that nobody has, with its name; not open, and none, where there cannot be one.
File create(const fs::path& name_begin, File::Access access, fs::path& name) {
  for (int i = 0; i < attempts; ++i) {
    name = name_begin;
    name += six_letters();
    File file = File::create(name, access);
    if (file.is_open()) {
      return file;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  name.clear();
  return {};
}

bool write_in_place(const fs::path& path, std::string_view text) {
  File file = File::overwrite(path);
  return file.is_open() && file.write_all(text) && file.close();
}

// `is_there`: the file has an owner and a mode, to be kept.
bool replace(const fs::path& path, bool is_there, std::string_view text) {
  fs::path begin = path;
  begin += ".unfinished-";
  UnfinishedFile file(begin, is_there ? File::Access::owner : File::Access::everybody);
  if (!file.is_open() || (is_there && !file.file().take_owner_and_mode(path))) {
    return write_in_place(path, text);
  }
  return file.file().write_all(text) && file.finish(path);
}

bool write_whole(const fs::path& path, std::string_view text) {
  std::error_code failed;
  const fs::file_status there = fs::status(path, failed);
  if (!fs::exists(there)) {
    return fs::is_symlink(fs::symlink_status(path, failed)) ? write_in_place(path, text)
                                                            : replace(path, false, text);
  }
  if (!may_write(path)) {
    return false;  // renaming would not ask
  }
  failed.clear();
  const fs::path itself = fs::canonical(path, failed);
  const bool replaceable = fs::is_regular_file(there) && fs::hard_link_count(path, failed) == 1 && !failed;
  return replaceable ? replace(itself, true, text) : write_in_place(path, text);
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

UnfinishedFile::UnfinishedFile(const fs::path& name_begin, File::Access access)
    : file_(create(name_begin, access, name_)) {}

UnfinishedFile::~UnfinishedFile() {
  if (!name_.empty()) {
    const int error = errno;
    std::error_code ignored;
    file_.close();  // some systems remove no open file
    fs::remove(name_, ignored);
    errno = error;
  }
}

bool UnfinishedFile::finish(const fs::path& path) {
  const bool done = file_.close() && rename_over(name_, path);
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

std::string six_letters() {
  std::string letters;
  std::random_device random;
  for (int i = 0; i < 6; ++i) {
    letters += static_cast<char>('a' + random() % 26);
  }
  return letters;
}

}  // namespace duogemm
