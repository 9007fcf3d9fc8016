#include "references/cpu_libraries.h"

#include <chrono>
#include <ctime>
#include <span>
#include <thread>

#include "references/blas_calls.h"
#include "support/format.h"

namespace duogemm::bench {
namespace {

std::string numbers(std::span<const int> version) {
  return join(version, ".", [](int number) { return std::to_string(number); });
}

// The second word of "OpenBLAS 0.3.21 DYNAMIC_ARCH ..." is enough.
std::string about_openblas(const OpenLibrary& opened) {
  const std::string words = opened.ask("", "openblas_get_config");
  const std::size_t second = words.find(' ') + 1;
  return words.substr(second, words.find(' ', second) - second) + " (" +
         opened.ask("", "openblas_get_corename") + ")";
}

std::string about_mkl(const OpenLibrary& opened) {
  struct Version {
    int numbers[3] = {};
    const char *status = "", *build = "", *processor = "", *platform = "";
  } version;
  void (*get)(Version*) = nullptr;
  if (opened.library.find("MKL_Get_Version", get)) {
    get(&version);
  }
  return numbers(version.numbers) + " (" + version.processor + ")";
}

// AOCL-BLAS, which is BLIS for AMD's processors, says of its version "AOCL-BLAS 5.1.0 Build ...".
std::string about_blis(const OpenLibrary& opened) {
  const int kernels = opened.ask(0, "bli_arch_query_id");
  return std::string(opened.ask("", "bli_info_get_version_str")) + " (" +
         opened.ask("", "bli_arch_string", kernels) + ")";
}

// The instruction sets are bits of dnnl_cpu_isa_t.
std::string about_onednn(const OpenLibrary& opened) {
  constexpr unsigned avx2 = 0x4, avx512 = 0x20;
  const int none[3] = {};
  const unsigned set = opened.ask(0U, "dnnl_get_effective_cpu_isa");
  return numbers({opened.ask(&none[0], "dnnl_version"), 3}) + " (" +
         ((set & avx512) != 0 ? "AVX-512"
          : (set & avx2) != 0 ? "AVX2"
                              : "neither AVX2 nor AVX-512") +
         ")";
}

// oneDNN has SGEMM under a name of its own, row-major, with numbers by value.
BlasCall sgemm_of_onednn(const SharedLibrary& library) {
  using Sgemm =
      int(char a_op, char b_op, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
          std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);
  Sgemm* sgemm = nullptr;
  if (!library.find("dnnl_sgemm", sgemm)) {
    return {};
  }
  return [sgemm](const Problem& p, const Operands& operands) {
    const auto letter = [](Transpose op) { return op == Transpose::no ? 'N' : 'T'; };
    for (std::int64_t i = 0; i < p.batch; ++i) {
      const int status = sgemm(letter(p.b_op), letter(p.a_op), p.n, p.m, p.k, p.alpha,
                               pointer(operands, operand_b) + i * p.b_stride, p.ldb,
                               pointer(operands, operand_a) + i * p.a_stride, p.lda, p.beta,
                               pointer(operands, operand_c) + i * p.c_stride, p.ldc);
      if (status != 0) {
        throw Error(Status::device_error, "oneDNN: dnnl_sgemm returned " + std::to_string(status));
      }
    }
  };
}

// The threads of OpenBLAS and of OpenMP look out for more work for up to a fifth of a second before they
// sleep, and would take the cores from whoever is timed next. Waits until the process takes next to no time
// of its processors, but not for ever.
void await_sleeping_threads() {
  constexpr std::chrono::milliseconds a_moment{5};
  constexpr int most_moments = 100;
  for (int i = 0; i < most_moments; ++i) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(a_moment);
    if (static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 1e-3) {
      return;
    }
  }
}

// Works on the calling process's own threads.
class CpuReference final : public ReferenceLibrary {
 public:
  CpuReference(const std::string& title, std::string name, BlasCall call)
      : ReferenceLibrary(title), name_(std::move(name)), call_(std::move(call)) {}

  std::string name() const override { return name_; }
  void multiply(const Problem& problem, const Operands& operands) override { call_(problem, operands); }
  void rest() override { await_sleeping_threads(); }

 private:
  const std::string name_;
  const BlasCall call_;
};

}  // namespace

const std::vector<CpuLibrary>& cpu_libraries() {
  static const std::vector<CpuLibrary> libraries = {
      {.title = "OpenBLAS",
       .files = {"libscipy_openblas.so", "libopenblas.so.0"},
       .set_threads = "openblas_set_num_threads_",
       .get_threads = "openblas_get_num_threads",
       .slowed_by = {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"},
       .old_kernels = {"Katmai",      "Coppermine", "Northwood", "Prescott",     "Banias",
                       "Atom",        "Core2",      "Penryn",    "Dunnington",   "Nehalem",
                       "Sandybridge", "Athlon",     "Opteron",   "Opteron_SSE3", "Barcelona",
                       "Nano",        "Bobcat",     "Bulldozer", "Piledriver",   "Steamroller"},
       .about = about_openblas},
      {.title = "MKL",
       .files = {"libmkl_rt.so.3", "libmkl_rt.so.2"},
       .set_threads = "mkl_set_num_threads_",
       .get_threads = "MKL_Get_Max_Threads",
       .slowed_by = {"MKL_CBWR", "MKL_DEBUG_CPU_TYPE", "MKL_ENABLE_INSTRUCTIONS"},
       .about = about_mkl},
      {.title = "BLIS",
       .files = {"libblis-mt.so.5", "libblis.so.5", "libblis-mt.so.4", "libblis.so.4"},
       .set_threads = "bli_thread_set_num_threads_",
       .get_threads = "bli_thread_get_num_threads",
       .slowed_by = {"BLIS_ARCH_TYPE"},
       .old_kernels = {"generic", "penryn", "sandybridge", "bulldozer", "piledriver", "steamroller"},
       .about = about_blis},
      {.title = "oneDNN",
       .files = {"libdnnl.so.3", "libdnnl.so.2"},
       .set_threads = "omp_set_num_threads_",
       .get_threads = "omp_get_max_threads",
       .slowed_by = {"DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA"},
       .old_kernels = {"neither AVX2 nor AVX-512"},
       .about = about_onednn}};
  return libraries;
}

std::unique_ptr<ReferenceLibrary> make_cpu_library(const CpuLibrary& library, std::size_t threads) {
  const OpenLibrary open(SharedLibrary(library.files));
  if (!open.library.is_open()) {
    return nullptr;
  }
  const int count = static_cast<int>(threads);
  void (*set_threads)(const int*) = nullptr;
  if (open.library.find((open.prefix + library.set_threads).c_str(), set_threads)) {
    set_threads(&count);
  }
  BlasCall sgemm = sgemm_of(open.library, open.prefix);
  return std::make_unique<CpuReference>(library.title,
                                        library.title + " " + library.about(open) + " on " +
                                            std::to_string(open.ask(count, library.get_threads)) + " threads",
                                        sgemm ? std::move(sgemm) : sgemm_of_onednn(open.library));
}

}  // namespace duogemm::bench
