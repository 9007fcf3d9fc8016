#include "references/cublas_library.h"

#include <cstdlib>
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

const Gemmul8& gemmul8() {
  static const Gemmul8 loaded = [] {
    Gemmul8 result;
    const SharedLibrary library({"libgemmul8.so"});
    const char* moduli = std::getenv("GEMMUL8_NUM_MOD_S_GEMM");  // of newer versions
    moduli = moduli == nullptr ? std::getenv("GEMMUL8_NUM_MOD_S") : moduli;
    result.moduli = moduli == nullptr ? 0 : std::atoi(moduli);
    if (!library.find(DUOGEMM_SYMBOL(cublasSgemm), result.sgemm) ||
        !library.find(DUOGEMM_SYMBOL(cublasDestroy), result.destroy)) {
      result.absence = "there is no libgemmul8.so";
    } else if (result.moduli < 2 || result.moduli > 13) {
      result.absence =
          "neither GEMMUL8_NUM_MOD_S_GEMM nor GEMMUL8_NUM_MOD_S is 2 to 13 moduli, "
          "without which GEMMul8 calls cuBLAS";
    }
    return result;
  }();
  return loaded;
}

const CublasFunctions* cublas() {
  static const std::optional<CublasFunctions> loaded = load();
  return loaded ? &*loaded : nullptr;
}

}  // namespace duogemm::bench
