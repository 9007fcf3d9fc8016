#include "system/loaded_libraries.h"

#include "system/windows/win32.h"
// After it, as it needs its types.
#include <psapi.h>

namespace duogemm {
namespace {

std::string file_of_module(HMODULE module) {
  std::wstring name(32768, L'\0');  // the most that Windows has
  name.resize(GetModuleFileNameW(module, name.data(), static_cast<DWORD>(name.size())));
  return to_utf8(name);
}

void* find_in_module(HMODULE module, const char* name) {
  return module == nullptr ? nullptr : reinterpret_cast<void*>(GetProcAddress(module, name));
}

}  // namespace

std::vector<std::string> loaded_libraries() {
  std::vector<HMODULE> modules;
  DWORD bytes = 0;
  do {  // until there is room for all, though others load more meanwhile
    modules.resize(bytes / sizeof(HMODULE));
    if (EnumProcessModules(GetCurrentProcess(), modules.data(), bytes, &bytes) == 0) {
      return {};
    }
  } while (bytes > modules.size() * sizeof(HMODULE));
  std::vector<std::string> names;
  for (std::size_t i = 1; i < bytes / sizeof(HMODULE); ++i) {  // the first is the program
    names.push_back(file_of_module(modules[i]));
  }
  return names;
}

std::string file_of(const void* function) {
  HMODULE module = nullptr;
  constexpr DWORD by_address =
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  return GetModuleHandleExW(by_address, static_cast<const wchar_t*>(function), &module) != 0
             ? file_of_module(module)
             : "";
}

void* find_in_loaded(const std::string& file, const char* name) {
  return find_in_module(GetModuleHandleW(to_wide(file).c_str()), name);
}

// Windows has no order for a whole process, as whoever is linked names the library of each function: any
// other library that has it will do.
void* find_in_process(const char* name) {
  for (const std::string& file : loaded_libraries()) {
    if (void* const found = unless_ours(find_in_loaded(file, name))) {
      return found;
    }
  }
  return nullptr;
}

void* find_in_linkers_order(const char* name) { return find_in_process(name); }

void* find_by_loading(const char* file, const char* name) {
  const HMODULE library = LoadLibraryW(to_wide(file).c_str());
  void* const found = unless_ours(find_in_module(library, name));
  if (library != nullptr && found == nullptr) {
    FreeLibrary(library);
  }
  return found;
}

}  // namespace duogemm
