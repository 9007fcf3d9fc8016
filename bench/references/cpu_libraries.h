// The libraries that multiply on a CPU. Each is opened where the system's loader finds it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "references/reference.h"
#include "system/shared_library.h"

namespace duogemm::bench {

// An open library, whose symbols may begin with a prefix: those of scipy-openblas32 in PyPI do.
class OpenLibrary {
 public:
  explicit OpenLibrary(const SharedLibrary& opened) : library(opened) {
    void (*prefixed)() = nullptr;
    prefix = library.find("scipy_sgemm_", prefixed) ? "scipy_" : "";
  }

  // Answers what a function of the library's answers, or `otherwise` where it has none of that name.
  template <typename Result, typename... Arguments>
  Result ask(Result otherwise, const std::string& symbol, Arguments... arguments) const {
    Result (*function)(Arguments...) = nullptr;
    return library.find((prefix + symbol).c_str(), function) ? function(arguments...) : otherwise;
  }

  const SharedLibrary library;
  std::string prefix;
};

struct CpuLibrary {
  std::string title = {};
  std::vector<std::string> files = {};        // of which the first that there is is taken: the newest
  std::string set_threads = {};               // as a subroutine of Fortran
  std::string get_threads = {};               // which may be fewer
  std::vector<std::string> slowed_by = {};    // variables that may make it take other kernels than its best
  std::vector<std::string> old_kernels = {};  // as `about` names those of its kernels that have no AVX2
  // "0.3.21 (SkylakeX)": its version, and the kernels that it has picked for this processor.
  std::string (*about)(const OpenLibrary& opened) = nullptr;
};

// Those that there may be.
const std::vector<CpuLibrary>& cpu_libraries();

// By SGEMM of BLAS or of oneDNN. Null where none of its files is there.
std::unique_ptr<ReferenceLibrary> make_cpu_library(const CpuLibrary& library, std::size_t threads);

}  // namespace duogemm::bench
