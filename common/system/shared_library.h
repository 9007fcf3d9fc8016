// Shared libraries that are opened at run time, so that programs start where there are none.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace duogemm {

// Stays loaded until the process ends: drivers, compilers and what has threads do not support being unloaded.
class SharedLibrary {
 public:
  // Opens the first of these files that the system's loader takes.
  explicit SharedLibrary(const std::vector<std::string>& files);

  bool is_open() const { return handle_ != nullptr; }
  // Says why it is not open, in the loader's words about the first file.
  const std::string& absence() const { return absence_; }
  // Where it lies; empty where it is not open.
  std::filesystem::path folder() const;

  // Answers whether the library has the symbol; the function is null if not.
  template <typename Function>
  bool find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(address(symbol));
    return function != nullptr;
  }

 private:
  void* address(const char* symbol) const;

  void* handle_ = nullptr;
  std::string absence_;
};

// Answers the address of a symbol in a library of the file, which is unloaded with the last copy of the
// answer; null, and why in `absence`, where the system does not load it.
std::shared_ptr<void> load_symbol(const std::filesystem::path& file, const char* symbol,
                                  std::string& absence);

// The symbol of a function as its header's macros rename it (cuMemAlloc is cuMemAlloc_v2).
#define DUOGEMM_TEXT(name) #name
#define DUOGEMM_SYMBOL(name) DUOGEMM_TEXT(name)

}  // namespace duogemm
