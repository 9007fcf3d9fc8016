#include "system/folders.h"

#include "system/environment.h"
#include "system/files.h"
#include "system/windows/win32.h"

namespace duogemm {

namespace fs = std::filesystem;

// What moves to the user's other machines is in APPDATA.
fs::path user_directory(const char* own, UserFolder kind, const char* folder) {
  if (const std::optional<fs::path> named = environment_path(own)) {
    return *named;
  }
  const char* const variable = kind == UserFolder::cache ? "LOCALAPPDATA" : "APPDATA";
  const fs::path shared = environment_path(variable).value_or("");
  return shared.is_absolute() ? shared / folder : fs::path();
}

bool make_private_folder(const fs::path& path) {
  return CreateDirectoryW(path.c_str(), nullptr) != 0 || failed();
}

fs::path make_temporary_folder() {
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    const fs::path name = fs::temp_directory_path() / ("duogemm-" + six_letters());
    if (make_private_folder(name)) {
      return name;
    }
  }
  return {};
}

}  // namespace duogemm
