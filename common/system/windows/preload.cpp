#include "system/preload.h"

#include "duogemm/error.h"

namespace duogemm {

int become_program(const std::vector<std::string>&, const std::vector<std::filesystem::path>&) {
  throw Error(Status::unsupported, "run: Windows puts no library in front of a program's own");
}

}  // namespace duogemm
