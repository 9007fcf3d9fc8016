#include "pocl.h"

#include <unistd.h>

#include "system/user_directory.h"

namespace duogemm::opencl {
namespace {

namespace fs = std::filesystem;

constexpr const char* name_another = "name another folder by the environment variable POCL_CACHE_DIR";

// "PoCL's cache (/root/.cache/pocl/kcache)"
std::string cache_and_folder() {
  const fs::path folder = pocl_cache_directory();
  return "PoCL's cache" + (folder.empty() ? "" : " (" + folder.string() + ")");
}

// The folder, or else the nearest above it that is there, in which it would be made.
fs::path existing_folder() {
  fs::path folder = pocl_cache_directory();
  std::error_code ignored;
  while (!folder.empty() && !fs::exists(folder, ignored) && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

fs::path pocl_cache_directory() {
  return user_directory("POCL_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "pocl/kcache");
}

// A folder for each program, in it one for each kernel, and in that one for each size of work-group.
std::size_t kernels_kept_by_pocl() {
  std::error_code nothing_there;
  std::size_t count = 0;
  for (fs::recursive_directory_iterator entry(pocl_cache_directory(), nothing_there), end; entry != end;
       entry.increment(nothing_there)) {
    count += entry->path().extension() == ".so";
  }
  return count;
}

void require_room_in_pocl_cache() {
  constexpr std::uintmax_t largest_program = std::uintmax_t{2} << 20;
  std::error_code failure;
  const fs::space_info space = fs::space(existing_folder(), failure);
  if (!failure && space.available < largest_program) {
    throw Error(Status::build_failed,
                "OpenCL: " + cache_and_folder() + " has " + std::to_string(space.available >> 10) +
                    " KiB left, which is too little for a program: make room, or " + name_another);
  }
}

std::string pocl_cache_obstacle() {
  const fs::path folder = existing_folder();
  std::error_code ignored;
  if (folder.empty() || (fs::is_directory(folder, ignored) && access(folder.c_str(), W_OK | X_OK) == 0)) {
    return {};
  }
  return cache_and_folder() + " cannot be written, and PoCL has no device without it: " + name_another;
}

std::unique_lock<std::mutex> exclusive_use_of_pocl() {
  static std::mutex at_work;
  return std::unique_lock(at_work);
}

std::string pocl_cache_remedy() { return "remove " + cache_and_folder() + ", or " + name_another; }

}  // namespace duogemm::opencl
