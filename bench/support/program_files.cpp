#include "support/program_files.h"

namespace duogemm::bench {

std::filesystem::path program_folder() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
}

std::vector<std::filesystem::path> program_folders(const std::string& name) {
  const std::filesystem::path program = program_folder();
  return {program / name, program / DUOGEMM_SHARE_FROM_PROGRAM / name};
}

}  // namespace duogemm::bench
