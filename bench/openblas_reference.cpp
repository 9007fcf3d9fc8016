#include <cblas.h>

#include <chrono>

#include "library_references.h"

namespace duogemm::bench {
namespace {

CBLAS_TRANSPOSE operation(Transpose op) { return op == Transpose::no ? CblasNoTrans : CblasTrans; }

class OpenBlasReference final : public Reference {
 public:
  explicit OpenBlasReference(const HostProblem& host) : host_(host), c_(host.c) {}

  std::string name() const override {
    // "OpenBLAS 0.3.21 DYNAMIC_ARCH ...": the first two words are enough.
    const std::string configuration = openblas_get_config();
    const std::size_t second = configuration.find(' ', configuration.find(' ') + 1);
    return configuration.substr(0, second) + " (" + openblas_get_corename() + ", " +
           std::to_string(openblas_get_num_threads()) + " threads)";
  }

  // On the host's clock: the library runs on the calling process's own threads.
  double run(int repeats) override {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) {
      execute();
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::vector<float> result() override {
    c_ = host_.c;
    execute();
    return c_;
  }

 private:
  void execute() {
    const Problem& p = host_.problem;
    cblas_sgemm(CblasColMajor, operation(p.a_op), operation(p.b_op), size(p.m), size(p.n), size(p.k), p.alpha,
                host_.a.data(), size(p.lda), host_.b.data(), size(p.ldb), p.beta, c_.data(), size(p.ldc));
  }
  static blasint size(std::int64_t value) { return static_cast<blasint>(value); }

  const HostProblem& host_;
  std::vector<float> c_;
};

}  // namespace

std::unique_ptr<Reference> make_openblas_reference(const HostProblem& host) {
  return std::make_unique<OpenBlasReference>(host);
}

}  // namespace duogemm::bench
