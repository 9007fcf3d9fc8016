#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "call.h"
#include "next.h"
#include "system/loaded_libraries.h"
#include "system/this_process.h"

namespace duogemm::blas {
namespace {

// When the library is loaded, and so before any fork that matters.
[[maybe_unused]] const Family& made_early = family();

// Processes that the program starts or forks inherit the variable, but have other numbers.
bool was_started_by_run() {
  const char* started = std::getenv("DUOGEMM_RUN");
  return started != nullptr && started == std::to_string(process_id());
}

// How BLAS's functions are called where they are not to be mixed up with the system's: OpenBLAS in the
// packages of PyPI, and libraries whose integers have 64 bits. "NAME in FILE", or nothing.
std::string sgemm_by_another_name() {
  for (const std::string& file : loaded_libraries()) {
    for (const char* name : {"scipy_cblas_sgemm64_", "scipy_cblas_sgemm", "scipy_sgemm_64_", "scipy_sgemm_",
                             "cblas_sgemm64_", "cblas_sgemm_64", "sgemm_64_", "sgemm_64"}) {
      if (const void* const found = find_in_loaded(file, name)) {
        return std::string(name) + " in " + file_of(found);  // which `file` may need
      }
    }
  }
  return "";
}

// Where the drop-in library for cuBLAS is loaded as well, it knows of its own calls.
using Reached = bool();
Reached* reached_through_cublas() {
  return reinterpret_cast<Reached*>(find_in_process("duogemm_cublas_reached"));
}

[[gnu::destructor]] void tell_when_never_reached() {
  Reached* const cublas_reached = reached_through_cublas();
  if (!was_started_by_run() || family().reached || (cublas_reached != nullptr && cublas_reached())) {
    return;
  }
  const std::string other = sgemm_by_another_name();
  if (other.empty()) {
    std::fprintf(stderr, "duogemm: %s ended without a call of sgemm_%s\n", program_name().c_str(),
                 cublas_reached == nullptr ? " or cblas_sgemm" : ", cblas_sgemm or a product of cuBLAS");
  } else {
    std::fprintf(
        stderr,
        "duogemm: %s has a BLAS that cannot be replaced, because its functions have other names (%s); it "
        "takes a program on the BLAS of the system, such as Debian's python3-numpy\n",
        program_name().c_str(), other.c_str());
  }
}

}  // namespace

Family& family() {
  static Family& shared = *new (memory_shared_by_forks(sizeof(Family))) Family;
  return shared;
}

void note_reached() {
  static constinit std::atomic<bool> noted = false;  // by this process, or by one that it was forked from
  if (!noted.load(std::memory_order_relaxed)) {
    family().reached = true;
    noted = true;
  }
}

}  // namespace duogemm::blas
