#include "references/cublas_library.h"

#include <optional>

#include "library_files.h"
#include "system/log.h"
#include "toolkit_library.h"

namespace duogemm::bench {
namespace {

std::optional<CublasFunctions> load() {
  const std::string file = cuda::cublas_file(CUBLAS_VER_MAJOR);
  const SharedLibrary library = cuda::open_of_toolkit({file});  // and with it cublasLt, which it needs
  if (!library.is_open()) {
    warn_line("no comparison with " + cuda::missing_library("cuBLAS, " + file, "nvidia-cublas", library));
    return std::nullopt;
  }
  CublasFunctions loaded{};
  bool complete = true;
#define DUOGEMM_FIND(name) complete = library.find(DUOGEMM_SYMBOL(name), loaded.name) && complete;
  DUOGEMM_CUBLAS_FUNCTIONS(DUOGEMM_FIND)
  DUOGEMM_FIND(cublasGemmEx)
  DUOGEMM_FIND(cublasGemmStridedBatchedEx)
#if CUBLAS_VERSION >= 130000
  DUOGEMM_FIND(cublasSetEmulationStrategy)
#endif
#undef DUOGEMM_FIND
  if (!complete) {
    warn_line("cuBLAS is not compared with: " + file + " is older than the one of this build");
    return std::nullopt;
  }
  return loaded;
}

}  // namespace

const CublasFunctions* cublas() {
  static const std::optional<CublasFunctions> loaded = load();
  return loaded ? &*loaded : nullptr;
}

}  // namespace duogemm::bench
