#include "system/preload.h"

#include "duogemm/error.h"

namespace duogemm {

int become_program(const std::vector<std::string>&, const std::vector<std::filesystem::path>&) {
  throw Error(Status::unsupported,
              "run: macOS puts no library's functions in front of those that a program was linked to");
}

}  // namespace duogemm
