#include "system/file.h"

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <limits>

#include "system/files.h"
#include "system/windows/win32.h"

namespace duogemm {
namespace {

// Others may do with it what they may under POSIX.
HANDLE open_shared(const std::filesystem::path& path, DWORD access, DWORD disposition, DWORD flags = 0) {
  constexpr DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  return CreateFileW(path.c_str(), access, share, nullptr, disposition, FILE_ATTRIBUTE_NORMAL | flags,
                     nullptr);
}

int descriptor_of(HANDLE handle) {
  if (handle == INVALID_HANDLE_VALUE) {
    failed();
    return -1;
  }
  return _open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_BINARY | _O_NOINHERIT);
}

HANDLE handle_of(int descriptor) { return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor)); }

// Of what is to be transferred, as much as one call takes.
unsigned piece(std::size_t bytes) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  return static_cast<unsigned>(std::min(bytes, most));
}

bool is_done(HANDLE handle) {
  if (handle == INVALID_HANDLE_VALUE) {
    return failed();
  }
  CloseHandle(handle);
  return true;
}

}  // namespace

File File::to_read(const std::filesystem::path& path, Links links) {
  const DWORD no_links = links == Links::refuse ? FILE_FLAG_OPEN_REPARSE_POINT : 0;
  // Folders, too, of which facts() tells that they are none.
  return File(
      descriptor_of(open_shared(path, GENERIC_READ, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | no_links)));
}

// Who may read and write a file of the owner's, the folder decides, as it does for all files.
File File::create(const std::filesystem::path& path, Access) {
  return File(descriptor_of(open_shared(path, GENERIC_WRITE, CREATE_NEW)));
}

File File::overwrite(const std::filesystem::path& path) {
  return File(descriptor_of(open_shared(path, GENERIC_WRITE, CREATE_ALWAYS)));
}

File File::open_or_create(const std::filesystem::path& path) {
  return File(descriptor_of(open_shared(path, GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS)));
}

bool File::close() { return is_open() && _close(std::exchange(number_, -1)) == 0; }

std::optional<FileFacts> File::facts() const {
  BY_HANDLE_FILE_INFORMATION told{};
  if (!is_open()) {
    return std::nullopt;
  }
  if (GetFileType(handle_of(number_)) != FILE_TYPE_DISK) {
    return FileFacts{};
  }
  if (GetFileInformationByHandle(handle_of(number_), &told) == 0) {
    failed();
    return std::nullopt;
  }
  const auto joined = [](DWORD high, DWORD low) { return (std::uint64_t{high} << 32) | low; };
  constexpr std::uint64_t per_second = 10'000'000;
  constexpr std::uint64_t seconds_before_1970 = 11'644'473'600;
  const bool is_regular =
      (told.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) == 0;
  const std::uint64_t written =
      joined(told.ftLastWriteTime.dwHighDateTime, told.ftLastWriteTime.dwLowDateTime);
  return FileFacts{is_regular, is_regular, joined(told.nFileSizeHigh, told.nFileSizeLow),
                   static_cast<std::time_t>(written / per_second - seconds_before_1970)};
}

std::ptrdiff_t File::read_some(char* to, std::size_t bytes) const { return _read(number_, to, piece(bytes)); }

bool File::read_all(char* to, std::size_t bytes) const {
  while (bytes > 0) {
    const int count = _read(number_, to, piece(bytes));
    if (count <= 0) {
      return false;
    }
    to += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool File::write_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const int count = _write(number_, bytes.data(), piece(bytes.size()));
    if (count <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool File::write_at(std::uint64_t offset, std::string_view bytes) const {
  return _lseeki64(number_, static_cast<std::int64_t>(offset), SEEK_SET) >= 0 && write_all(bytes);
}

bool File::truncate(std::uint64_t bytes) const {
  return _chsize_s(number_, static_cast<std::int64_t>(bytes)) == 0;
}

// Beyond any byte of it, as others could not read what is locked.
bool File::lock() const {
  OVERLAPPED place{};
  place.OffsetHigh = std::numeric_limits<std::int32_t>::max();
  return LockFileEx(handle_of(number_), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
                    &place) != 0;
}

// Files inherit both from the folder.
bool File::take_owner_and_mode(const std::filesystem::path&) const { return true; }

// Fails for as long as somebody else opens the file there.
bool rename_over(const std::filesystem::path& from, const std::filesystem::path& to) {
  constexpr int attempts = 500;
  for (int i = 0; i < attempts; ++i) {
    if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING) != 0) {
      return true;
    }
    if (GetLastError() != ERROR_ACCESS_DENIED && GetLastError() != ERROR_SHARING_VIOLATION) {
      break;
    }
    Sleep(1);
  }
  return failed();
}

bool may_write(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::is_directory(path, unknown)) {
    return is_done(open_shared(path, GENERIC_WRITE, OPEN_EXISTING));
  }
  return is_done(
      open_shared(path / ("duogemm-" + six_letters()), GENERIC_WRITE, CREATE_NEW, FILE_FLAG_DELETE_ON_CLOSE));
}

}  // namespace duogemm
