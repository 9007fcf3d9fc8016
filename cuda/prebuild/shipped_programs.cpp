#include "prebuild/program_archive.h"

// shipped_archive.S puts the archive here.
extern "C" {
extern const char duogemm_shipped_archive[];
extern const char duogemm_shipped_archive_end[];
}

namespace duogemm::cuda {

const ProgramArchive& shipped_programs() {
  static const ProgramArchive archive(
      std::string_view(duogemm_shipped_archive,
                       static_cast<std::size_t>(duogemm_shipped_archive_end - duogemm_shipped_archive)));
  return archive;
}

std::optional<std::string> shipped_program(const ProgramSource& source, std::string_view runtime,
                                           int compute_capability) {
  return shipped_programs().find(program_key(source, runtime, compute_capability));
}

}  // namespace duogemm::cuda
