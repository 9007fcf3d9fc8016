// cuBLAS in FP32, on FP32 matrices with other arithmetic than FP32, and on the host's memory; and cublasLt.
#include <cuda_fp16.h>

#include <algorithm>

#include "check/inputs.h"
#include "references/cublas_library.h"
#include "references/reference.h"
#include "support/format.h"
#include "system/environment.h"
#include "timing/measure.h"

namespace duogemm::bench {
namespace {

// As much as cuBLAS takes for itself on the GPUs on which it takes most ("cublasSetWorkspace" in its manual).
constexpr std::size_t workspace_size = std::size_t{32} << 20;

// Throws device_error, or out_of_memory, with the text of the call.
void check_cublas(cublasStatus_t status, const char* call, const std::string& library = "cuBLAS") {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(status == CUBLAS_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error,
                library + ": " + call + " returned " + cublas()->cublasGetStatusString(status));
  }
}

// Calls a function of cuBLAS and checks what it returns: DUOGEMM_CUBLAS(cublasDestroy(handle)).
#define DUOGEMM_CUBLAS(...) check_cublas(cublas()->__VA_ARGS__, #__VA_ARGS__)

cublasOperation_t operation(Transpose op) { return op == Transpose::no ? CUBLAS_OP_N : CUBLAS_OP_T; }

cudaStream_t stream_of(const Queue& queue) { return reinterpret_cast<cudaStream_t>(queue.native()); }

void* memory_of(const Buffer& buffer) { return reinterpret_cast<void*>(buffer.native()); }

using Property = decltype(CublasFunctions::cublasGetProperty);  // cublasLt's has the same type

// "13.1.0"
std::string version_text(Property property) {
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    check_cublas(property(part, &number), "cublasGetProperty");
    text += (text.empty() ? "" : ".") + std::to_string(number);
  }
  return text;
}

int size(std::int64_t value) { return static_cast<int>(value); }

// The elements of matrices, and how they are multiplied.
struct Form {
  cudaDataType_t type;
  cublasComputeType_t compute;
};

// A handle on a queue, in true FP32, with its workspace, because cuBLAS would otherwise allocate one for each
// graph that captures its calls. It takes the pointers and the stream of our own backend: both live in the
// device's primary context, which the CUDA runtime inside cuBLAS uses too.
class CublasLibrary : public ReferenceLibrary {
 public:
  ~CublasLibrary() override {
    queue().with_device([&] { destroy_(handle_); });
  }
  std::string name() const override { return title() + " " + version_text(cublas()->cublasGetProperty); }

 protected:
  CublasLibrary(const std::string& title, const Surroundings& of,
                decltype(CublasFunctions::cublasDestroy) destroy = cublas()->cublasDestroy)
      : ReferenceLibrary(title, *of.device, *of.queue),
        destroy_(destroy),
        workspace_(device().allocate(workspace_size)) {
    queue().with_device([&] {
      DUOGEMM_CUBLAS(cublasCreate(&handle_));
      DUOGEMM_CUBLAS(cublasSetStream(handle_, stream_of(queue())));
      DUOGEMM_CUBLAS(cublasSetWorkspace(handle_, memory_of(*workspace_), workspace_size));
      // FP32 throughout: TF32 is another mode.
      DUOGEMM_CUBLAS(cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH));
    });
  }
  cublasHandle_t handle() const { return handle_; }

  // A product without a batch.
  void multiply_one(decltype(CublasFunctions::cublasSgemm) sgemm, const Problem& p,
                    const Operands& operands) const {
    check_cublas(sgemm(handle_, operation(p.a_op), operation(p.b_op), size(p.m), size(p.n), size(p.k),
                       &p.alpha, pointer(operands, operand_a), size(p.lda), pointer(operands, operand_b),
                       size(p.ldb), &p.beta, pointer(operands, operand_c), size(p.ldc)),
                 "cublasSgemm", title());
  }

  void multiply_as(const Form& form, const Problem& p, const void* a, const void* b, float* c) const {
    if (p.batch == 1) {
      DUOGEMM_CUBLAS(cublasGemmEx(handle_, operation(p.a_op), operation(p.b_op), size(p.m), size(p.n),
                                  size(p.k), &p.alpha, a, form.type, size(p.lda), b, form.type, size(p.ldb),
                                  &p.beta, c, CUDA_R_32F, size(p.ldc), form.compute, CUBLAS_GEMM_DEFAULT));
      return;
    }
    DUOGEMM_CUBLAS(cublasGemmStridedBatchedEx(
        handle_, operation(p.a_op), operation(p.b_op), size(p.m), size(p.n), size(p.k), &p.alpha, a,
        form.type, size(p.lda), p.a_stride, b, form.type, size(p.ldb), p.b_stride, &p.beta, c, CUDA_R_32F,
        size(p.ldc), p.c_stride, size(p.batch), form.compute, CUBLAS_GEMM_DEFAULT));
  }

 private:
  decltype(CublasFunctions::cublasDestroy) destroy_;
  std::unique_ptr<Buffer> workspace_;
  cublasHandle_t handle_ = nullptr;
};

class Cublas final : public CublasLibrary {
 public:
  explicit Cublas(const Surroundings& of) : CublasLibrary("cuBLAS", of) {}

  void multiply(const Problem& p, const Operands& operands) override {
    const cublasOperation_t a_op = operation(p.a_op);
    const cublasOperation_t b_op = operation(p.b_op);
    if (p.batch_by == BatchBy::addresses) {
      DUOGEMM_CUBLAS(cublasSgemmBatched(handle(), a_op, b_op, size(p.m), size(p.n), size(p.k), &p.alpha,
                                        pointer<const float*>(operands, table_a), size(p.lda),
                                        pointer<const float*>(operands, table_b), size(p.ldb), &p.beta,
                                        pointer<float*>(operands, table_c), size(p.ldc), size(p.batch)));
      return;
    }
    if (p.batch == 1) {
      multiply_one(cublas()->cublasSgemm, p, operands);
    } else {
      DUOGEMM_CUBLAS(cublasSgemmStridedBatched(
          handle(), a_op, b_op, size(p.m), size(p.n), size(p.k), &p.alpha, pointer(operands, operand_a),
          size(p.lda), p.a_stride, pointer(operands, operand_b), size(p.ldb), p.b_stride, &p.beta,
          pointer(operands, operand_c), size(p.ldc), p.c_stride, size(p.batch)));
    }
  }
};

// TF32, or cuBLAS's own emulation of FP32: cuBLAS itself converts matrices of FP32.
class Converting final : public CublasLibrary {
 public:
  Converting(const std::string& title, const Surroundings& of, cublasComputeType_t compute, bool is_accurate)
      : CublasLibrary(title, of), compute_(compute), is_accurate_(is_accurate) {
#if CUBLAS_VERSION >= 130000
    if (is_accurate) {  // which emulates also where cuBLAS holds FP32 to be faster
      queue().with_device(
          [&] { DUOGEMM_CUBLAS(cublasSetEmulationStrategy(handle(), CUBLAS_EMULATION_STRATEGY_EAGER)); });
    }
#endif
  }
  bool is_fp32_accurate() const override { return is_accurate_; }
  void multiply(const Problem& problem, const Operands& operands) override {
    if (problem.batch_by != BatchBy::strides) {
      throw Error(Status::unsupported, "cuBLAS: batches by lists are not multiplied in other precisions");
    }
    multiply_as({CUDA_R_32F, compute_}, problem, pointer(operands, operand_a), pointer(operands, operand_b),
                pointer(operands, operand_c));
  }

 private:
  const cublasComputeType_t compute_;
  const bool is_accurate_;
};

// As many products of INT8, or of FP8, as the environment asks GEMMul8 for moduli.
class ByModuli final : public CublasLibrary {
 public:
  explicit ByModuli(const Surroundings& of) : CublasLibrary("GEMMul8", of, gemmul8().destroy) {}

  // All that decides how it multiplies.
  std::string name() const override {
    std::vector<std::string> variables = environment_at_start();
    std::erase_if(variables, [](const std::string& variable) { return !variable.starts_with("GEMMUL8_"); });
    std::ranges::sort(variables);
    return title() + " (" + join(variables) + ")";
  }
  bool is_fp32_accurate() const override { return false; }
  double workspace_bytes(const Problem& p) const override {
    return gemmul8().moduli * static_cast<double>(p.m * p.k + p.k * p.n + p.m * p.n) +
           sizeof(float) * static_cast<double>(p.m * p.n);
  }
  void multiply(const Problem& p, const Operands& operands) override {
    if (p.batch != 1) {
      throw Error(Status::unsupported, "GEMMul8: it multiplies no batches");
    }
    multiply_one(gemmul8().sgemm, p, operands);
  }
};

// The FP16 product goes over K as often as f16x3 does.
constexpr std::int64_t passes = 3;

// A third of alpha times the product of FP16 copies that repeat A and B three times along K: the result is
// that of rounded operands, at the speed of three products of FP16.
class Fp16 final : public CublasLibrary {
 public:
  explicit Fp16(const Surroundings& of) : CublasLibrary("cuBLAS-FP16", of) {}

  std::string name() const override { return CublasLibrary::name() + ", K three times"; }
  bool is_fp32_accurate() const override { return false; }
  double workspace_bytes(const Problem& problem) const override {
    return static_cast<double>(passes * sizeof(__half)) *
           static_cast<double>(problem.a_elements() + problem.b_elements());
  }
  std::unique_ptr<Reference> prepare(const Problem& problem, const Operands& operands) override {
    if (problem.batch != 1) {
      throw Error(Status::unsupported, "cuBLAS-FP16: batches are not copied to FP16");
    }
    const bool a_along_rows = problem.a_op == Transpose::yes;
    const bool b_along_rows = problem.b_op == Transpose::no;
    const std::shared_ptr<Buffer> a =
        repeat(place_of(operands, operand_a), problem.a_rows(), problem.a_cols(), problem.lda, a_along_rows);
    const std::shared_ptr<Buffer> b =
        repeat(place_of(operands, operand_b), problem.b_rows(), problem.b_cols(), problem.ldb, b_along_rows);
    Problem longer = problem;
    longer.k *= passes;
    longer.alpha /= static_cast<float>(passes);
    longer.lda = a_along_rows ? longer.k : problem.m;
    longer.ldb = b_along_rows ? longer.k : problem.n;
    return std::make_unique<FunctionReference>(queue(), [this, longer, a, b](const auto& places) {
      multiply_as({CUDA_R_16F, CUBLAS_COMPUTE_32F}, longer, memory_of(*a), memory_of(*b),
                  pointer(places, operand_c));
    });
  }
  void multiply(const Problem&, const Operands&) override {
    throw Error(Status::unsupported, "cuBLAS-FP16: it needs copies of its operands");
  }

 private:
  // A packed FP16 copy, rounded on the host. along_rows: k counts its rows, else its columns.
  std::shared_ptr<Buffer> repeat(const MatrixPlace& place, std::int64_t rows, std::int64_t cols,
                                 std::int64_t ld, bool along_rows) const {
    std::vector<float> given(static_cast<std::size_t>(ld * (cols - 1) + rows));
    queue().start_read(*place.buffer, static_cast<std::size_t>(place.offset) * sizeof(float), given.data(),
                       given.size() * sizeof(float));
    queue().finish();
    std::vector<__half> rounded(static_cast<std::size_t>(passes * rows * cols));
    const auto column = [&](std::int64_t col, std::int64_t pass) {
      return rounded.begin() + rows * (along_rows ? col * passes + pass : pass * cols + col);
    };
    in_parts(cols, passes * rows, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t col = from; col < to; ++col) {
        const auto begin = given.begin() + col * ld;
        std::transform(begin, begin + rows, column(col, 0),
                       [](float value) { return __float2half_rn(value); });
        for (std::int64_t pass = 1; pass < passes; ++pass) {
          std::copy_n(column(col, 0), rows, column(col, pass));
        }
      }
    });
    std::shared_ptr<Buffer> repeated = device().allocate(rounded.size() * sizeof(__half));
    queue().write(*repeated, rounded.data(), rounded.size() * sizeof(__half));
    return repeated;
  }
};

// Takes operands in the host's memory, as our own call on plain arrays does, and returns when C is there.
class CublasXt final : public ReferenceLibrary {
 public:
  // device: CUDA's number of it.
  explicit CublasXt(std::size_t device) : ReferenceLibrary("cublasXt") {
    DUOGEMM_CUBLAS(cublasXtCreate(&handle_));
    int number = static_cast<int>(device);
    DUOGEMM_CUBLAS(cublasXtDeviceSelect(handle_, 1, &number));
  }
  ~CublasXt() override { cublas()->cublasXtDestroy(handle_); }

  std::string name() const override { return title() + " " + version_text(cublas()->cublasGetProperty); }

  // The members of a batch one after the other: cublasXt has no call for all of them.
  void multiply(const Problem& p, const Operands& operands) override {
    // Large blocks are copied less often; several must be there at once.
    const std::int64_t block = std::clamp<std::int64_t>(std::max({p.m, p.n, p.k}) / 4, 1024, 8192);
    DUOGEMM_CUBLAS(cublasXtSetBlockDim(handle_, static_cast<int>(block)));
    const auto length = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    for (std::int64_t i = 0; i < p.batch; ++i) {
      DUOGEMM_CUBLAS(cublasXtSgemm(handle_, operation(p.a_op), operation(p.b_op), length(p.m), length(p.n),
                                   length(p.k), &p.alpha, pointer(operands, operand_a) + i * p.a_stride,
                                   length(p.lda), pointer(operands, operand_b) + i * p.b_stride,
                                   length(p.ldb), &p.beta, pointer(operands, operand_c) + i * p.c_stride,
                                   length(p.ldc)));
    }
  }

 private:
  cublasXtHandle_t handle_ = nullptr;
};

// A matrix, or a batch of them, as cublasLt wants it described.
cublasLtMatrixLayoutOpaque_t describe(std::int64_t rows, std::int64_t cols, std::int64_t ld,
                                      std::int64_t batch, std::int64_t stride) {
  cublasLtMatrixLayoutOpaque_t layout{};
  DUOGEMM_CUBLAS(cublasLtMatrixLayoutInit_internal(&layout, sizeof layout, CUDA_R_32F,
                                                   static_cast<std::uint64_t>(rows),
                                                   static_cast<std::uint64_t>(cols), ld));
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, auto value) {
    DUOGEMM_CUBLAS(cublasLtMatrixLayoutSetAttribute(&layout, attribute, &value, sizeof value));
  };
  if (batch > 1) {
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  return layout;
}

// In true FP32.
cublasLtMatmulDescOpaque_t describe(Transpose a_op, Transpose b_op) {
  cublasLtMatmulDescOpaque_t multiplication{};
  DUOGEMM_CUBLAS(cublasLtMatmulDescInit_internal(&multiplication, sizeof multiplication, CUBLAS_COMPUTE_32F,
                                                 CUDA_R_32F));
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, Transpose op) {
    const std::int32_t value = operation(op);
    DUOGEMM_CUBLAS(cublasLtMatmulDescSetAttribute(&multiplication, attribute, &value, sizeof value));
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, a_op);
  set(CUBLASLT_MATMUL_DESC_TRANSB, b_op);
  return multiplication;
}

class CublasLtReference final : public Reference {
  using Algorithms = std::vector<cublasLtMatmulAlgo_t>;

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

  void enqueue(const Operands& operands) override { check_cublas(multiply(operands), "cublasLtMatmul"); }

  // Keeps the first of the candidates, which takes no time. With the queue's device current.
  void take_first() { algorithm_ = require_any(candidates(1)).front(); }

  // Times the candidates in turns and keeps the fastest. With the queue's device current.
  void choose(const Operands& operands) {
    Algorithms algorithms = candidates(8);
    std::erase_if(algorithms, [&](const cublasLtMatmulAlgo_t& algorithm) {
      algorithm_ = algorithm;
      return multiply(operands) != CUBLAS_STATUS_SUCCESS;  // it does not run after all
    });
    queue().finish();
    std::vector<Contender> contenders;
    for (const cublasLtMatmulAlgo_t& algorithm : require_any(algorithms)) {
      contenders.push_back({"", [&](int repeats) {
                              algorithm_ = algorithm;
                              return timed(repeats, [&](int) { return operands; });
                            }});
    }
    const MeasureOptions quickly{
        .noise = 0.02, .seconds = 0.02, .min_samples = 3, .patience = 0.05, .sample_seconds = 2e-4};
    const std::vector<Samples> samples = measure(contenders, quickly, [](const std::string&) {});
    const auto fastest = std::ranges::min_element(samples, {}, &Samples::median);
    algorithm_ = algorithms[static_cast<std::size_t>(fastest - samples.begin())];
  }

 private:
  static const Algorithms& require_any(const Algorithms& algorithms) {
    if (algorithms.empty()) {
      throw Error(Status::unsupported, "cublasLt: no algorithm for this problem");
    }
    return algorithms;
  }

  // The algorithms that cublasLt expects to be the fastest, best first, at most this many.
  Algorithms candidates(int most) {
    cublasLtMatmulPreferenceOpaque_t preference{};
    DUOGEMM_CUBLAS(cublasLtMatmulPreferenceInit_internal(&preference, sizeof preference));
    const std::uint64_t workspace = workspace_size;
    DUOGEMM_CUBLAS(cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                        &workspace, sizeof workspace));
    std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(most));
    int count = 0;
    DUOGEMM_CUBLAS(cublasLtMatmulAlgoGetHeuristic(handle_, &multiplication_, &a_, &b_, &c_, &c_, &preference,
                                                  most, results.data(), &count));
    results.resize(static_cast<std::size_t>(count));
    std::erase_if(results, [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; });
    Algorithms algorithms;
    std::ranges::transform(results, std::back_inserter(algorithms), &cublasLtMatmulHeuristicResult_t::algo);
    return algorithms;
  }

  cublasStatus_t multiply(const Operands& operands) {
    float* const c = pointer(operands, operand_c);
    return cublas()->cublasLtMatmul(handle_, &multiplication_, &problem_.alpha, pointer(operands, operand_a),
                                    &a_, pointer(operands, operand_b), &b_, &problem_.beta, c, &c_, c, &c_,
                                    &algorithm_, memory_of(workspace_), workspace_size, stream_of(queue()));
  }

  cublasLtHandle_t handle_;
  const Buffer& workspace_;
  const Problem problem_;
  cublasLtMatmulDescOpaque_t multiplication_;
  cublasLtMatrixLayoutOpaque_t a_, b_, c_;
  cublasLtMatmulAlgo_t algorithm_{};
};

class CublasLt final : public ReferenceLibrary {
 public:
  explicit CublasLt(const Surroundings& of)
      : ReferenceLibrary("cublasLt", *of.device, *of.queue), workspace_(device().allocate(workspace_size)) {
    queue().with_device([&] { DUOGEMM_CUBLAS(cublasLtCreate(&handle_)); });
  }
  ~CublasLt() override {
    queue().with_device([&] { cublas()->cublasLtDestroy(handle_); });
  }

  std::string name() const override { return title() + " " + version_text(cublas()->cublasLtGetProperty); }
  std::unique_ptr<Reference> prepare(const Problem& problem, const Operands& operands) override {
    auto reference = std::make_unique<CublasLtReference>(handle_, queue(), *workspace_, problem);
    queue().with_device([&] { reference->choose(operands); });
    return reference;
  }
  void multiply(const Problem& problem, const Operands& operands) override {
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

std::unique_ptr<ReferenceLibrary> make_cublas(const std::string& title, const Surroundings& of) {
  if (cublas() == nullptr) {
    return nullptr;
  }
  if (title == "cuBLAS-TF32") {
    return std::make_unique<Converting>(title, of, CUBLAS_COMPUTE_32F_FAST_TF32, false);
  }
  if (title == "cuBLAS-BF16x9") {
#if CUBLAS_VERSION >= 130000
    return std::make_unique<Converting>(title, of, CUBLAS_COMPUTE_32F_EMULATED_16BFX9, true);
#else
    return nullptr;
#endif
  }
  if (title == "GEMMul8") {
    return gemmul8().absence.empty() ? std::make_unique<ByModuli>(of) : nullptr;
  }
  if (title == "cuBLAS-FP16") {
    return std::make_unique<Fp16>(of);
  }
  if (title == "cublasXt") {
    return std::make_unique<CublasXt>(of.info.index);
  }
  return std::make_unique<Cublas>(of);
}

std::unique_ptr<ReferenceLibrary> make_cublaslt(const std::string&, const Surroundings& of) {
  return cublas() != nullptr ? std::make_unique<CublasLt>(of) : nullptr;
}

}  // namespace duogemm::bench
