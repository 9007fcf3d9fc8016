// The programs that the library carries for devices whose measurements it carries too: made at build time
// (prebuild/), through CUDA by the compiler and with the options of run time.
#pragma once

#include <optional>
#include <string>

#include "prebuild/program_archive.h"

namespace duogemm::cuda {

const ProgramArchive& shipped_programs();

// The cubin for exactly that program, runtime and compute capability; nothing when the library has none.
std::optional<std::string> shipped_program(const ProgramSource& source, std::string_view runtime,
                                           int compute_capability);

}  // namespace duogemm::cuda
