#include "system/folders.h"

#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "system/environment.h"
#include "system/posix/particulars.h"

namespace duogemm {

namespace fs = std::filesystem;

fs::path user_directory(const char* own, UserFolder kind, const char* folder) {
  if (const std::optional<fs::path> named = environment_path(own)) {
    return *named;
  }
  // The specification: a path that is not absolute is to be ignored.
  const fs::path shared =
      environment_path(kind == UserFolder::cache ? "XDG_CACHE_HOME" : "XDG_CONFIG_HOME").value_or("");
  if (shared.is_absolute()) {
    return shared / folder;
  }
  const fs::path home = environment_path("HOME").value_or("");
  return home.is_absolute() ? home / folder_in_home(kind) / folder : fs::path();
}

bool make_private_folder(const fs::path& path) { return ::mkdir(path.c_str(), S_IRWXU) == 0; }

fs::path make_temporary_folder() {
  std::string name = fs::temp_directory_path() / "duogemm-XXXXXX";
  return mkdtemp(name.data()) == nullptr ? "" : name;
}

}  // namespace duogemm
