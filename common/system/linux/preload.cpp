#include "system/preload.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "duogemm/error.h"
#include "system/environment.h"
#include "system/posix/argument_list.h"

namespace duogemm {

int become_program(const std::vector<std::string>& words,
                   const std::vector<std::filesystem::path>& libraries) {
  std::string preloaded;
  for (const std::filesystem::path& library : libraries) {
    if (library.string().find_first_of(": ") != std::string::npos) {
      throw Error(Status::unsupported,
                  "run: " + library.string() +
                      " cannot be preloaded: the dynamic linker takes no path with a space or a colon");
    }
    preloaded.append(preloaded.empty() ? "" : ":").append(library.string());
  }
  const char* const others = std::getenv("LD_PRELOAD");
  if (others != nullptr && *others != '\0') {
    preloaded.append(":").append(others);
  }
  set_environment("LD_PRELOAD", preloaded);
  const std::vector<char*> arguments = argument_list(words);
  execvp(arguments.front(), arguments.data());
  return errno;
}

}  // namespace duogemm
