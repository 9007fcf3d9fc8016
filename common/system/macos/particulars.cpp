#include "system/posix/particulars.h"

#include <crt_externs.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>

#include "system/loaded_libraries.h"
#include "system/shared_library.h"
#include "system/this_process.h"

namespace duogemm {

Stack own_stack() {
  const auto end = reinterpret_cast<std::uintptr_t>(pthread_get_stackaddr_np(pthread_self()));
  return {end - pthread_get_stacksize_np(pthread_self()), end};
}

// A library cannot name `environ`.
char** environment_entries() { return *_NSGetEnviron(); }

bool make_pipe(int (&ends)[2]) {
  return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 &&
         fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

std::filesystem::path folder_in_home(UserFolder kind) {
  return kind == UserFolder::cache ? "Library/Caches" : "Library/Application Support";
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  for (std::uint32_t i = 1; i < _dyld_image_count(); ++i) {  // the first is the program
    if (const char* const name = _dyld_get_image_name(i)) {
      names.emplace_back(name);
    }
  }
  return names;
}

// A library's file is known by its functions alone.
std::filesystem::path SharedLibrary::folder() const {
  for (const std::string& name : loaded_libraries()) {
    void* const library = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library != nullptr) {
      dlclose(library);
    }
    if (library != nullptr && library == handle_) {
      return std::filesystem::path(name).parent_path();
    }
  }
  return {};
}

std::string program_name() { return getprogname(); }

std::filesystem::path program_file() {
  std::uint32_t bytes = 0;
  _NSGetExecutablePath(nullptr, &bytes);
  std::string file(bytes, '\0');
  std::error_code unknown;
  return _NSGetExecutablePath(file.data(), &bytes) == 0 ? std::filesystem::canonical(file.c_str(), unknown)
                                                        : "";
}

}  // namespace duogemm
