#include <cublasLt.h>

#include <algorithm>

#include "references/cublas_support.h"
#include "references/library_references.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

constexpr int most_candidates = 8;

// A matrix, or a batch of them, as cublasLt wants it described.
class Layout {
 public:
  Layout(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t batch, std::int64_t stride) {
    DUOGEMM_CUBLAS(cublasLtMatrixLayoutCreate(&layout_, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                              static_cast<std::uint64_t>(cols), ld));
    if (batch > 1) {
      set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
      set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
    }
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  template <typename Value>
  void set(cublasLtMatrixLayoutAttribute_t attribute, Value value) {
    DUOGEMM_CUBLAS(cublasLtMatrixLayoutSetAttribute(layout_, attribute, &value, sizeof value));
  }
  cublasLtMatrixLayout_t layout_ = nullptr;
};

// The multiplication and its matrices, in true FP32.
class Description {
 public:
  explicit Description(const Problem& p)
      : a_(p.a_rows(), p.a_cols(), p.lda, p.batch, p.a_stride),
        b_(p.b_rows(), p.b_cols(), p.ldb, p.batch, p.b_stride),
        c_(p.m, p.n, p.ldc, p.batch, p.c_stride) {
    DUOGEMM_CUBLAS(cublasLtMatmulDescCreate(&multiplication_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.a_op);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.b_op);
  }
  ~Description() { cublasLtMatmulDescDestroy(multiplication_); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  cublasLtMatmulDesc_t multiplication() const { return multiplication_; }
  cublasLtMatrixLayout_t a() const { return a_.get(); }
  cublasLtMatrixLayout_t b() const { return b_.get(); }
  cublasLtMatrixLayout_t c() const { return c_.get(); }

 private:
  void set(cublasLtMatmulDescAttributes_t attribute, Transpose op) {
    const std::int32_t value = cublas_operation(op);
    DUOGEMM_CUBLAS(cublasLtMatmulDescSetAttribute(multiplication_, attribute, &value, sizeof value));
  }
  Layout a_, b_, c_;
  cublasLtMatmulDesc_t multiplication_ = nullptr;
};

// The algorithms that cublasLt expects to be the fastest, best first, at most so many.
std::vector<cublasLtMatmulAlgo_t> candidates(cublasLtHandle_t handle, const Description& description,
                                             int most) {
  cublasLtMatmulPreference_t preference = nullptr;
  DUOGEMM_CUBLAS(cublasLtMatmulPreferenceCreate(&preference));
  const std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, decltype(&cublasLtMatmulPreferenceDestroy)> owner(
      preference, &cublasLtMatmulPreferenceDestroy);
  const std::uint64_t workspace = cublas_workspace_bytes;
  DUOGEMM_CUBLAS(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                      &workspace, sizeof workspace));
  cublasLtMatmulHeuristicResult_t results[most_candidates];
  int count = 0;
  DUOGEMM_CUBLAS(cublasLtMatmulAlgoGetHeuristic(handle, description.multiplication(), description.a(),
                                                description.b(), description.c(), description.c(), preference,
                                                most, results, &count));
  std::vector<cublasLtMatmulAlgo_t> algorithms;
  for (int i = 0; i < count; ++i) {
    if (results[i].state == CUBLAS_STATUS_SUCCESS) {
      algorithms.push_back(results[i].algo);
    }
  }
  return algorithms;
}

class CublasLtReference final : public Reference {
 public:
  CublasLtReference(cublasLtHandle_t handle, Queue& queue, const Buffer& workspace, const Problem& problem)
      : Reference(queue), handle_(handle), workspace_(workspace), problem_(problem), description_(problem) {}

  void enqueue(const PreparedPlan::Operands& operands) override { enqueue(operands, algorithm_); }

  // Keeps the first of the candidates, which takes no time. With the queue's device current.
  void take_first() {
    const std::vector<cublasLtMatmulAlgo_t> algorithms = candidates(handle_, description_, 1);
    require_any(algorithms);
    algorithm_ = algorithms.front();
  }

  // Times the candidates in turns and keeps the fastest. With the queue's device current.
  void choose(const PreparedPlan::Operands& operands) {
    const std::vector<cublasLtMatmulAlgo_t> algorithms = usable(operands);
    require_any(algorithms);
    std::vector<Contender> contenders;
    for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
      contenders.push_back({"", [&](int repeats) { return time(operands, algorithm, repeats); }});
    }
    const MeasureOptions quickly{
        .noise = 0.02, .seconds = 0.02, .min_samples = 3, .patience = 0.05, .sample_seconds = 2e-4};
    const std::vector<Samples> samples = measure(contenders, quickly, [](const std::string&) {});
    const auto fastest =
        std::min_element(samples.begin(), samples.end(),
                         [](const Samples& a, const Samples& b) { return a.median() < b.median(); });
    algorithm_ = algorithms[static_cast<std::size_t>(fastest - samples.begin())];
  }

 private:
  static void require_any(const std::vector<cublasLtMatmulAlgo_t>& algorithms) {
    if (algorithms.empty()) {
      throw Error(Status::unsupported, "cublasLt: no algorithm for this problem");
    }
  }

  // An algorithm may turn out not to run after all.
  std::vector<cublasLtMatmulAlgo_t> usable(const PreparedPlan::Operands& operands) {
    std::vector<cublasLtMatmulAlgo_t> algorithms = candidates(handle_, description_, most_candidates);
    std::erase_if(algorithms, [&](const cublasLtMatmulAlgo_t& algorithm) {
      return multiply(operands, algorithm) != CUBLAS_STATUS_SUCCESS;
    });
    queue().finish();
    return algorithms;
  }

  double time(const PreparedPlan::Operands& operands, const cublasLtMatmulAlgo_t& algorithm, int repeats) {
    return queue().timed([&] {
      for (int i = 0; i < repeats; ++i) {
        enqueue(operands, algorithm);
      }
    });
  }

  void enqueue(const PreparedPlan::Operands& operands, const cublasLtMatmulAlgo_t& algorithm) {
    check_cublas(multiply(operands, algorithm), "cublasLtMatmul");
  }

  cublasStatus_t multiply(const PreparedPlan::Operands& operands, const cublasLtMatmulAlgo_t& algorithm) {
    float* const c = cuda_pointer(operands, operand_c);
    return cublasLtMatmul(
        handle_, description_.multiplication(), &problem_.alpha, cuda_pointer(operands, operand_a),
        description_.a(), cuda_pointer(operands, operand_b), description_.b(), &problem_.beta, c,
        description_.c(), c, description_.c(), &algorithm, reinterpret_cast<void*>(workspace_.native()),
        cublas_workspace_bytes, cuda_stream(queue()));
  }

  cublasLtHandle_t handle_;
  const Buffer& workspace_;
  const Problem problem_;
  const Description description_;
  cublasLtMatmulAlgo_t algorithm_{};
};

class CublasLt final : public ReferenceLibrary {
 public:
  CublasLt(Device& device, Queue& queue)
      : device_(device), queue_(queue), workspace_(device.allocate(cublas_workspace_bytes)) {
    queue.with_device([&] { DUOGEMM_CUBLAS(cublasLtCreate(&handle_)); });
  }
  ~CublasLt() override {
    queue_.with_device([&] { cublasLtDestroy(handle_); });
  }
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  std::string title() const override { return "cublasLt"; }
  std::string name() const override { return title() + " " + cublas_version_text(cublasLtGetVersion()); }
  Device& device() override { return device_; }
  Queue& queue() override { return queue_; }
  std::unique_ptr<Reference> prepare(const Problem& problem,
                                     const PreparedPlan::Operands& operands) override {
    auto reference = std::make_unique<CublasLtReference>(handle_, queue_, *workspace_, problem);
    queue_.with_device([&] { reference->choose(operands); });
    return reference;
  }
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    if (problem.batch_by == BatchBy::addresses) {
      throw Error(Status::unsupported, "cublasLt: it takes no lists of matrices");
    }
    CublasLtReference reference(handle_, queue_, *workspace_, problem);
    reference.take_first();
    reference.enqueue(operands);
  }

 private:
  Device& device_;
  Queue& queue_;
  std::unique_ptr<Buffer> workspace_;
  cublasLtHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<ReferenceLibrary> make_cublaslt(Device& device, Queue& queue) {
  return std::make_unique<CublasLt>(device, queue);
}

}  // namespace duogemm::bench
