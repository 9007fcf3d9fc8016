#include "system/posix/particulars.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "system/loaded_libraries.h"
#include "system/shared_library.h"
#include "system/this_process.h"

namespace duogemm {
namespace {

int add_name(dl_phdr_info* object, std::size_t, void* names) {
  if (object->dlpi_name != nullptr && *object->dlpi_name != '\0') {  // the program itself has no name
    static_cast<std::vector<std::string>*>(names)->emplace_back(object->dlpi_name);
  }
  return 0;
}

}  // namespace

Stack own_stack() {
  Stack own{0, std::numeric_limits<std::uintptr_t>::max()};
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    void* begin = nullptr;
    std::size_t bytes = own.end;
    pthread_attr_getstack(&attributes, &begin, &bytes);
    pthread_attr_destroy(&attributes);
    own.begin = reinterpret_cast<std::uintptr_t>(begin);
    own.end = own.begin + bytes;
  }
  return own;
}

char** environment_entries() { return environ; }

bool make_pipe(int (&ends)[2]) { return pipe2(ends, O_CLOEXEC) == 0; }

std::filesystem::path folder_in_home(UserFolder kind) {
  return kind == UserFolder::cache ? ".cache" : ".config";
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  dl_iterate_phdr(add_name, &names);
  return names;
}

std::filesystem::path SharedLibrary::folder() const {
  const link_map* map = nullptr;
  const bool known = handle_ != nullptr && dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0;
  return known ? std::filesystem::path(map->l_name).parent_path() : std::filesystem::path();
}

std::string program_name() { return program_invocation_short_name; }

std::filesystem::path program_file() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

}  // namespace duogemm
