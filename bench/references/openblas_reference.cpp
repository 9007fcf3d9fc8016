#include <cblas.h>

#include <chrono>
#include <thread>

#include "references/reference.h"

namespace duogemm::bench {
namespace {

CBLAS_TRANSPOSE operation(Transpose op) { return op == Transpose::no ? CblasNoTrans : CblasTrans; }

// OpenBLAS's threads look out for more work for 2^26 clock ticks before they sleep (its THREAD_TIMEOUT), and
// would take the cores from whoever is timed next.
constexpr std::chrono::milliseconds until_threads_sleep{40};

// Works on the calling process's own threads.
class OpenBlas final : public ReferenceLibrary {
 public:
  explicit OpenBlas(std::size_t threads) : ReferenceLibrary("OpenBLAS") {
    openblas_set_num_threads(static_cast<int>(threads));
  }

  std::string name() const override {
    // "OpenBLAS 0.3.21 DYNAMIC_ARCH ...": the first two words are enough.
    const std::string configuration = openblas_get_config();
    const std::size_t second = configuration.find(' ', configuration.find(' ') + 1);
    return configuration.substr(0, second) + " (" + openblas_get_corename() + ", " +
           std::to_string(openblas_get_num_threads()) + " threads)";
  }

  // The members of a batch one after the other: not every release has a call for all of them.
  void multiply(const Problem& p, const Operands& operands) override {
    const auto size = [](std::int64_t value) { return static_cast<blasint>(value); };
    for (std::int64_t i = 0; i < p.batch; ++i) {
      cblas_sgemm(CblasColMajor, operation(p.a_op), operation(p.b_op), size(p.m), size(p.n), size(p.k),
                  p.alpha, pointer(operands, operand_a) + i * p.a_stride, size(p.lda),
                  pointer(operands, operand_b) + i * p.b_stride, size(p.ldb), p.beta,
                  pointer(operands, operand_c) + i * p.c_stride, size(p.ldc));
    }
  }

  void rest() override { std::this_thread::sleep_for(until_threads_sleep); }
};

}  // namespace

std::unique_ptr<ReferenceLibrary> make_openblas(const std::string&, const Surroundings& of) {
  return std::make_unique<OpenBlas>(of.host_threads);
}

}  // namespace duogemm::bench
