#include "system/shared_library.h"

#include <array>

#include "system/windows/win32.h"

namespace duogemm {
namespace {

std::string why_not(const std::string& file) {
  return file + ": " + std::system_category().message(static_cast<int>(GetLastError()));
}

}  // namespace

SharedLibrary::SharedLibrary(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const std::filesystem::path path = path_of(file);
    // What it needs is looked for in its own folder first.
    handle_ = LoadLibraryExW(path.c_str(), nullptr, path.is_absolute() ? LOAD_WITH_ALTERED_SEARCH_PATH : 0);
    if (handle_ != nullptr) {
      absence_.clear();
      return;
    }
    if (absence_.empty()) {
      absence_ = why_not(file);
    }
  }
}

std::filesystem::path SharedLibrary::folder() const {
  std::array<wchar_t, 4096> name{};
  const DWORD length = handle_ == nullptr ? 0
                                          : GetModuleFileNameW(static_cast<HMODULE>(handle_), name.data(),
                                                               static_cast<DWORD>(name.size()));
  return length < name.size() ? std::filesystem::path(name.data()).parent_path() : std::filesystem::path();
}

void* SharedLibrary::address(const char* symbol) const {
  return handle_ == nullptr ? nullptr
                            : reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), symbol));
}

std::shared_ptr<void> load_symbol(const std::filesystem::path& file, const char* symbol,
                                  std::string& absence) {
  const std::shared_ptr<void> library(LoadLibraryW(file.c_str()), [](void* loaded) {
    if (loaded != nullptr) {
      FreeLibrary(static_cast<HMODULE>(loaded));
    }
  });
  void* const found =
      library == nullptr
          ? nullptr
          : reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library.get()), symbol));
  if (found == nullptr) {
    absence = why_not(file.string());
    return nullptr;
  }
  return {library, found};
}

}  // namespace duogemm
