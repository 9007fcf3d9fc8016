// cuBLAS in FP32, on FP32 matrices with other arithmetic than FP32, and on the host's memory.
#include <cublasXt.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "check/inputs.h"
#include "references/cublas_support.h"

namespace duogemm::bench {

void check_cublas(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(status == CUBLAS_STATUS_ALLOC_FAILED ? Status::out_of_memory : Status::device_error,
                std::string("cuBLAS: ") + call + " returned " + cublasGetStatusString(status));
  }
}

std::string cublas_version_text(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

namespace {

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
    queue().with_device([&] { cublasDestroy(handle_); });
  }
  std::string name() const override {
    int version = 0;
    DUOGEMM_CUBLAS(cublasGetVersion(handle_, &version));
    return title() + " " + cublas_version_text(static_cast<std::size_t>(version));
  }

 protected:
  CublasLibrary(const char* title, const Surroundings& of)
      : ReferenceLibrary(title, *of.device, *of.queue),
        workspace_(device().allocate(cublas_workspace_bytes)) {
    queue().with_device([&] {
      DUOGEMM_CUBLAS(cublasCreate(&handle_));
      DUOGEMM_CUBLAS(cublasSetStream(handle_, cuda_stream(queue())));
      DUOGEMM_CUBLAS(cublasSetWorkspace(handle_, cuda_memory(*workspace_), cublas_workspace_bytes));
      // FP32 throughout: TF32 is another mode.
      DUOGEMM_CUBLAS(cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH));
    });
  }
  cublasHandle_t handle() const { return handle_; }

  void multiply_as(const Form& form, const Problem& p, const void* a, const void* b, float* c) const {
    if (p.batch == 1) {
      DUOGEMM_CUBLAS(cublasGemmEx(handle_, cublas_operation(p.a_op), cublas_operation(p.b_op), size(p.m),
                                  size(p.n), size(p.k), &p.alpha, a, form.type, size(p.lda), b, form.type,
                                  size(p.ldb), &p.beta, c, CUDA_R_32F, size(p.ldc), form.compute,
                                  CUBLAS_GEMM_DEFAULT));
      return;
    }
    DUOGEMM_CUBLAS(cublasGemmStridedBatchedEx(
        handle_, cublas_operation(p.a_op), cublas_operation(p.b_op), size(p.m), size(p.n), size(p.k),
        &p.alpha, a, form.type, size(p.lda), p.a_stride, b, form.type, size(p.ldb), p.b_stride, &p.beta, c,
        CUDA_R_32F, size(p.ldc), p.c_stride, size(p.batch), form.compute, CUBLAS_GEMM_DEFAULT));
  }

 private:
  std::unique_ptr<Buffer> workspace_;
  cublasHandle_t handle_ = nullptr;
};

class Cublas final : public CublasLibrary {
 public:
  explicit Cublas(const Surroundings& of) : CublasLibrary("cuBLAS", of) {}

  void multiply(const Problem& p, const PreparedPlan::Operands& operands) override {
    const cublasOperation_t a_op = cublas_operation(p.a_op);
    const cublasOperation_t b_op = cublas_operation(p.b_op);
    if (p.batch_by == BatchBy::addresses) {
      DUOGEMM_CUBLAS(cublasSgemmBatched(handle(), a_op, b_op, size(p.m), size(p.n), size(p.k), &p.alpha,
                                        pointer<const float*>(operands, table_a), size(p.lda),
                                        pointer<const float*>(operands, table_b), size(p.ldb), &p.beta,
                                        pointer<float*>(operands, table_c), size(p.ldc), size(p.batch)));
      return;
    }
    const float* const a = pointer(operands, operand_a);
    const float* const b = pointer(operands, operand_b);
    float* const c = pointer(operands, operand_c);
    if (p.batch == 1) {
      DUOGEMM_CUBLAS(cublasSgemm(handle(), a_op, b_op, size(p.m), size(p.n), size(p.k), &p.alpha, a,
                                 size(p.lda), b, size(p.ldb), &p.beta, c, size(p.ldc)));
    } else {
      DUOGEMM_CUBLAS(cublasSgemmStridedBatched(
          handle(), a_op, b_op, size(p.m), size(p.n), size(p.k), &p.alpha, a, size(p.lda), p.a_stride, b,
          size(p.ldb), p.b_stride, &p.beta, c, size(p.ldc), p.c_stride, size(p.batch)));
    }
  }
};

// TF32, or cuBLAS's own emulation of FP32: cuBLAS itself converts matrices of FP32.
class Converting final : public CublasLibrary {
 public:
  Converting(const char* title, const Surroundings& of, cublasComputeType_t compute, bool is_accurate)
      : CublasLibrary(title, of), compute_(compute), is_accurate_(is_accurate) {}

  bool is_fp32_accurate() const override { return is_accurate_; }
  std::unique_ptr<Reference> prepare(const Problem& problem,
                                     const PreparedPlan::Operands& operands) override {
    require_strides(problem);
    return ReferenceLibrary::prepare(problem, operands);
  }
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    require_strides(problem);
    multiply_as({CUDA_R_32F, compute_}, problem, pointer(operands, operand_a), pointer(operands, operand_b),
                pointer(operands, operand_c));
  }
#if CUBLAS_VERSION >= 130000
  // Emulates also where cuBLAS holds FP32 to be faster.
  void be_eager() {
    queue().with_device(
        [&] { DUOGEMM_CUBLAS(cublasSetEmulationStrategy(handle(), CUBLAS_EMULATION_STRATEGY_EAGER)); });
  }
#endif

 private:
  static void require_strides(const Problem& problem) {
    if (problem.batch_by != BatchBy::strides) {
      throw Error(Status::unsupported, "cuBLAS: batches by lists are not multiplied in other precisions");
    }
  }
  const cublasComputeType_t compute_;
  const bool is_accurate_;
};

// The FP16 product goes over K as often as f16x3 does.
constexpr std::int64_t passes = 3;

// A matrix of FP16 that repeats another along K.
struct Repeated {
  std::unique_ptr<Buffer> memory;
  std::int64_t ld;
};

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
  std::unique_ptr<Reference> prepare(const Problem& problem,
                                     const PreparedPlan::Operands& operands) override {
    return std::make_unique<OnCopies>(*this, problem, operands);
  }
  void multiply(const Problem&, const PreparedPlan::Operands&) override {
    throw Error(Status::unsupported, "cuBLAS-FP16: it needs copies of its operands");
  }

 private:
  class OnCopies final : public Reference {
   public:
    OnCopies(const Fp16& library, const Problem& problem, const PreparedPlan::Operands& operands)
        : Reference(library.queue()), library_(library), problem_(problem) {
      if (problem.batch != 1) {
        throw Error(Status::unsupported, "cuBLAS-FP16: batches are not copied to FP16");
      }
      a_ = library.repeat(place_of(operands, operand_a), problem.a_rows(), problem.a_cols(), problem.lda,
                          problem.a_op == Transpose::yes);
      b_ = library.repeat(place_of(operands, operand_b), problem.b_rows(), problem.b_cols(), problem.ldb,
                          problem.b_op == Transpose::no);
      problem_.k *= passes;
      problem_.alpha /= static_cast<float>(passes);
      problem_.lda = a_.ld;
      problem_.ldb = b_.ld;
    }

    void enqueue(const PreparedPlan::Operands& operands) override {
      library_.multiply_as({CUDA_R_16F, CUBLAS_COMPUTE_32F}, problem_, cuda_memory(*a_.memory),
                           cuda_memory(*b_.memory), pointer(operands, operand_c));
    }

   private:
    const Fp16& library_;
    Problem problem_;
    Repeated a_, b_;
  };

  // A packed FP16 copy, rounded on the host. along_rows: k counts its rows, else its columns.
  Repeated repeat(const MatrixPlace& place, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                  bool along_rows) const {
    std::vector<float> given(static_cast<std::size_t>(ld * (cols - 1) + rows));
    queue().start_read(*place.buffer, static_cast<std::size_t>(place.offset) * sizeof(float), given.data(),
                       given.size() * sizeof(float));
    queue().finish();
    std::vector<__half> rounded(static_cast<std::size_t>(passes * rows * cols));
    const auto column = [&](std::int64_t col, std::int64_t pass) {
      return rounded.begin() + rows * (along_rows ? col * passes + pass : pass * cols + col);
    };
    in_parts(cols, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t col = from; col < to; ++col) {
        const auto begin = given.begin() + col * ld;
        std::transform(begin, begin + rows, column(col, 0),
                       [](float value) { return __float2half_rn(value); });
        for (std::int64_t pass = 1; pass < passes; ++pass) {
          std::copy_n(column(col, 0), rows, column(col, pass));
        }
      }
    });
    Repeated repeated{device().allocate(rounded.size() * sizeof(__half)), along_rows ? passes * rows : rows};
    queue().write(*repeated.memory, rounded.data(), rounded.size() * sizeof(__half));
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
  ~CublasXt() override { cublasXtDestroy(handle_); }

  std::string name() const override {
    std::string text = title();
    char separator = ' ';
    for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
      int number = 0;
      DUOGEMM_CUBLAS(cublasGetProperty(part, &number));
      text += separator + std::to_string(number);
      separator = '.';
    }
    return text;
  }

  // The members of a batch one after the other: cublasXt has no call for all of them.
  void multiply(const Problem& p, const PreparedPlan::Operands& operands) override {
    // Large blocks are copied less often; several must be there at once.
    const std::int64_t block = std::clamp<std::int64_t>(std::max({p.m, p.n, p.k}) / 4, 1024, 8192);
    DUOGEMM_CUBLAS(cublasXtSetBlockDim(handle_, static_cast<int>(block)));
    const auto length = [](std::int64_t value) { return static_cast<std::size_t>(value); };
    for (std::int64_t i = 0; i < p.batch; ++i) {
      DUOGEMM_CUBLAS(cublasXtSgemm(handle_, cublas_operation(p.a_op), cublas_operation(p.b_op), length(p.m),
                                   length(p.n), length(p.k), &p.alpha,
                                   pointer(operands, operand_a) + i * p.a_stride, length(p.lda),
                                   pointer(operands, operand_b) + i * p.b_stride, length(p.ldb), &p.beta,
                                   pointer(operands, operand_c) + i * p.c_stride, length(p.ldc)));
    }
  }

 private:
  cublasXtHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<ReferenceLibrary> make_cublas(const Surroundings& of) { return std::make_unique<Cublas>(of); }

std::unique_ptr<ReferenceLibrary> make_cublas_tf32(const Surroundings& of) {
  return std::make_unique<Converting>("cuBLAS-TF32", of, CUBLAS_COMPUTE_32F_FAST_TF32, false);
}

std::unique_ptr<ReferenceLibrary> make_cublas_emulation([[maybe_unused]] const Surroundings& of) {
#if CUBLAS_VERSION >= 130000
  auto library = std::make_unique<Converting>("cuBLAS-BF16x9", of, CUBLAS_COMPUTE_32F_EMULATED_16BFX9, true);
  library->be_eager();
  return library;
#else
  return nullptr;
#endif
}

std::unique_ptr<ReferenceLibrary> make_cublas_fp16(const Surroundings& of) {
  return std::make_unique<Fp16>(of);
}

std::unique_ptr<ReferenceLibrary> make_cublasxt(const Surroundings& of) {
  return std::make_unique<CublasXt>(of.info.index);
}

}  // namespace duogemm::bench
