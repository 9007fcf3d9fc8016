// Compiles kernels for this processor while the program runs.
#pragma once

#include <memory>
#include <string>

#include "cpu_programs.h"
#include "device/backend.h"

namespace duogemm {

// The shared library that the C++ compiler on PATH (c++, g++ or clang++) makes of a kernel. Throws
// unsupported where there is none, and build_failed with what the compiler says.
std::string compile_for_host(const ProgramSource& source, const CpuPrograms& programs);

// Says which compiler that is, and what it is told besides the text.
std::string host_compiler_text(const ProgramSource& source, const CpuPrograms& programs);

// A kernel's entry in such a shared library, which stays loaded as long as the result lives. Throws
// build_failed where the system does not load it.
std::shared_ptr<CpuEntry> load_for_host(const std::string& library);

}  // namespace duogemm
