#include "program_files.h"

namespace duogemm::bench {

std::vector<std::filesystem::path> program_folders(const std::string& name) {
  std::error_code unknown;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  return {program / name, program / DUOGEMM_SHARE_FROM_PROGRAM / name};
}

}  // namespace duogemm::bench
