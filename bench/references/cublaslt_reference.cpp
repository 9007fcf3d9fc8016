#include <cublasLt.h>

#include <algorithm>

#include "references/cublas_support.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

constexpr int most_candidates = 8;

template <typename Opaque>
using Owned = std::unique_ptr<Opaque, cublasStatus_t (*)(Opaque*)>;

// A matrix, or a batch of them, as cublasLt wants it described.
Owned<cublasLtMatrixLayoutOpaque_t> describe(std::int64_t rows, std::int64_t cols, std::int64_t ld,
                                             std::int64_t batch, std::int64_t stride) {
  cublasLtMatrixLayout_t made = nullptr;
  DUOGEMM_CUBLAS(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                            static_cast<std::uint64_t>(cols), ld));
  Owned<cublasLtMatrixLayoutOpaque_t> layout(made, &cublasLtMatrixLayoutDestroy);
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, auto value) {
    DUOGEMM_CUBLAS(cublasLtMatrixLayoutSetAttribute(made, attribute, &value, sizeof value));
  };
  if (batch > 1) {
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  return layout;
}

// In true FP32.
Owned<cublasLtMatmulDescOpaque_t> describe(Transpose a_op, Transpose b_op) {
  cublasLtMatmulDesc_t made = nullptr;
  DUOGEMM_CUBLAS(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  Owned<cublasLtMatmulDescOpaque_t> multiplication(made, &cublasLtMatmulDescDestroy);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, Transpose op) {
    const std::int32_t value = cublas_operation(op);
    DUOGEMM_CUBLAS(cublasLtMatmulDescSetAttribute(made, attribute, &value, sizeof value));
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, a_op);
  set(CUBLASLT_MATMUL_DESC_TRANSB, b_op);
  return multiplication;
}

class CublasLtReference final : public Reference {
 public:
  CublasLtReference(cublasLtHandle_t handle, Queue& queue, const Buffer& workspace, const Problem& p)
      : Reference(queue),
        handle_(handle),
        workspace_(workspace),
        problem_(p),
        multiplication_(describe(p.a_op, p.b_op)),
        a_(describe(p.a_rows(), p.a_cols(), p.lda, p.batch, p.a_stride)),
        b_(describe(p.b_rows(), p.b_cols(), p.ldb, p.batch, p.b_stride)),
        c_(describe(p.m, p.n, p.ldc, p.batch, p.c_stride)) {}

  void enqueue(const PreparedPlan::Operands& operands) override { enqueue(operands, algorithm_); }

  // Keeps the first of the candidates, which takes no time. With the queue's device current.
  void take_first() {
    const std::vector<cublasLtMatmulAlgo_t> algorithms = candidates(1);
    require_any(algorithms);
    algorithm_ = algorithms.front();
  }

  // Times the candidates in turns and keeps the fastest. With the queue's device current.
  void choose(const PreparedPlan::Operands& operands) {
    std::vector<cublasLtMatmulAlgo_t> algorithms = candidates(most_candidates);
    std::erase_if(algorithms, [&](const cublasLtMatmulAlgo_t& algorithm) {
      return multiply(operands, algorithm) != CUBLAS_STATUS_SUCCESS;  // it does not run after all
    });
    queue().finish();
    require_any(algorithms);
    std::vector<Contender> contenders;
    for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
      contenders.push_back({"", [&](int repeats) {
                              return queue().timed([&] {
                                for (int i = 0; i < repeats; ++i) {
                                  enqueue(operands, algorithm);
                                }
                              });
                            }});
    }
    const MeasureOptions quickly{
        .noise = 0.02, .seconds = 0.02, .min_samples = 3, .patience = 0.05, .sample_seconds = 2e-4};
    const std::vector<Samples> samples = measure(contenders, quickly, [](const std::string&) {});
    const auto fastest = std::ranges::min_element(samples, {}, &Samples::median);
    algorithm_ = algorithms[static_cast<std::size_t>(fastest - samples.begin())];
  }

 private:
  static void require_any(const std::vector<cublasLtMatmulAlgo_t>& algorithms) {
    if (algorithms.empty()) {
      throw Error(Status::unsupported, "cublasLt: no algorithm for this problem");
    }
  }

  // The algorithms that cublasLt expects to be the fastest, best first, at most this many.
  std::vector<cublasLtMatmulAlgo_t> candidates(int most) {
    cublasLtMatmulPreference_t preference = nullptr;
    DUOGEMM_CUBLAS(cublasLtMatmulPreferenceCreate(&preference));
    const Owned<cublasLtMatmulPreferenceOpaque_t> owner(preference, &cublasLtMatmulPreferenceDestroy);
    const std::uint64_t workspace = cublas_workspace_bytes;
    DUOGEMM_CUBLAS(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                        &workspace, sizeof workspace));
    cublasLtMatmulHeuristicResult_t results[most_candidates];
    int count = 0;
    DUOGEMM_CUBLAS(cublasLtMatmulAlgoGetHeuristic(handle_, multiplication_.get(), a_.get(), b_.get(),
                                                  c_.get(), c_.get(), preference, most, results, &count));
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < count; ++i) {
      if (results[i].state == CUBLAS_STATUS_SUCCESS) {
        algorithms.push_back(results[i].algo);
      }
    }
    return algorithms;
  }

  void enqueue(const PreparedPlan::Operands& operands, const cublasLtMatmulAlgo_t& algorithm) {
    check_cublas(multiply(operands, algorithm), "cublasLtMatmul");
  }

  cublasStatus_t multiply(const PreparedPlan::Operands& operands, const cublasLtMatmulAlgo_t& algorithm) {
    float* const c = pointer(operands, operand_c);
    return cublasLtMatmul(handle_, multiplication_.get(), &problem_.alpha, pointer(operands, operand_a),
                          a_.get(), pointer(operands, operand_b), b_.get(), &problem_.beta, c, c_.get(), c,
                          c_.get(), &algorithm, cuda_memory(workspace_), cublas_workspace_bytes,
                          cuda_stream(queue()));
  }

  cublasLtHandle_t handle_;
  const Buffer& workspace_;
  const Problem problem_;
  const Owned<cublasLtMatmulDescOpaque_t> multiplication_;
  const Owned<cublasLtMatrixLayoutOpaque_t> a_, b_, c_;
  cublasLtMatmulAlgo_t algorithm_{};
};

class CublasLt final : public ReferenceLibrary {
 public:
  explicit CublasLt(const Surroundings& of)
      : ReferenceLibrary("cublasLt", *of.device, *of.queue),
        workspace_(device().allocate(cublas_workspace_bytes)) {
    queue().with_device([&] { DUOGEMM_CUBLAS(cublasLtCreate(&handle_)); });
  }
  ~CublasLt() override {
    queue().with_device([&] { cublasLtDestroy(handle_); });
  }

  std::string name() const override { return title() + " " + cublas_version_text(cublasLtGetVersion()); }
  std::unique_ptr<Reference> prepare(const Problem& problem,
                                     const PreparedPlan::Operands& operands) override {
    auto reference = std::make_unique<CublasLtReference>(handle_, queue(), *workspace_, problem);
    queue().with_device([&] { reference->choose(operands); });
    return reference;
  }
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    if (problem.batch_by == BatchBy::addresses) {
      throw Error(Status::unsupported, "cublasLt: it takes no lists of matrices");
    }
    CublasLtReference reference(handle_, queue(), *workspace_, problem);
    reference.take_first();
    reference.enqueue(operands);
  }

 private:
  std::unique_ptr<Buffer> workspace_;
  cublasLtHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<ReferenceLibrary> make_cublaslt(const Surroundings& of) {
  return std::make_unique<CublasLt>(of);
}

}  // namespace duogemm::bench
