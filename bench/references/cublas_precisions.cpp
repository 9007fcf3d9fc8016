// cuBLAS on FP32 matrices with other arithmetic than FP32.
#include <cuda_fp16.h>

#include <algorithm>

#include "check/parallel.h"
#include "references/cublas_support.h"
#include "references/library_references.h"

namespace duogemm::bench {
namespace {

int size(std::int64_t value) { return static_cast<int>(value); }

// The elements of matrices, and how they are multiplied.
struct Form {
  cudaDataType_t type;
  cublasComputeType_t compute;
};

void multiply(cublasHandle_t handle, const Problem& p, const Form& form, const void* a, const void* b,
              float* c) {
  if (p.batch == 1) {
    DUOGEMM_CUBLAS(cublasGemmEx(handle, cublas_operation(p.a_op), cublas_operation(p.b_op), size(p.m),
                                size(p.n), size(p.k), &p.alpha, a, form.type, size(p.lda), b, form.type,
                                size(p.ldb), &p.beta, c, CUDA_R_32F, size(p.ldc), form.compute,
                                CUBLAS_GEMM_DEFAULT));
    return;
  }
  DUOGEMM_CUBLAS(cublasGemmStridedBatchedEx(
      handle, cublas_operation(p.a_op), cublas_operation(p.b_op), size(p.m), size(p.n), size(p.k), &p.alpha,
      a, form.type, size(p.lda), p.a_stride, b, form.type, size(p.ldb), p.b_stride, &p.beta, c, CUDA_R_32F,
      size(p.ldc), p.c_stride, size(p.batch), form.compute, CUBLAS_GEMM_DEFAULT));
}

void require_strides(const Problem& problem) {
  if (problem.batch_by != BatchBy::strides) {
    throw Error(Status::unsupported, "cuBLAS: batches by lists are not multiplied in other precisions");
  }
}

// Matrices of FP32, converted by cuBLAS itself.
class ConvertingReference final : public Reference {
 public:
  ConvertingReference(const CublasHandle& handle, const Problem& problem, cublasComputeType_t compute)
      : Reference(handle.queue()), handle_(handle.get()), problem_(problem), compute_(compute) {}

  void enqueue(const PreparedPlan::Operands& operands) override {
    bench::multiply(handle_, problem_, {CUDA_R_32F, compute_}, cuda_pointer(operands, operand_a),
                    cuda_pointer(operands, operand_b), cuda_pointer(operands, operand_c));
  }

 private:
  cublasHandle_t handle_;
  const Problem problem_;
  const cublasComputeType_t compute_;
};

// TF32, or cuBLAS's own emulation of FP32.
class Converting : public ReferenceLibrary {
 public:
  Converting(Device& device, Queue& queue, std::string title, cublasComputeType_t compute, bool is_accurate)
      : handle_(device, queue), title_(std::move(title)), compute_(compute), is_accurate_(is_accurate) {}

  std::string title() const override { return title_; }
  std::string name() const override { return title_ + " " + handle_.version(); }
  bool is_fp32_accurate() const override { return is_accurate_; }
  Device& device() override { return handle_.device(); }
  Queue& queue() override { return handle_.queue(); }
  std::unique_ptr<Reference> prepare(const Problem& problem, const PreparedPlan::Operands&) override {
    require_strides(problem);
    return std::make_unique<ConvertingReference>(handle_, problem, compute_);
  }
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    require_strides(problem);
    ConvertingReference(handle_, problem, compute_).enqueue(operands);
  }

 protected:
  const CublasHandle& handle() const { return handle_; }

 private:
  CublasHandle handle_;
  const std::string title_;
  const cublasComputeType_t compute_;
  const bool is_accurate_;
};

// How often the FP16 product goes over K: as often as f16x3 does.
constexpr std::int64_t passes = 3;

// A matrix of FP16 that repeats another along K.
struct Repeated {
  std::unique_ptr<Buffer> memory;
  std::int64_t ld;
};

// A packed FP16 copy, rounded on the host. along_rows: k counts its rows, else its columns.
Repeated repeat(const CublasHandle& handle, const MatrixPlace& place, std::int64_t rows, std::int64_t cols,
                std::int64_t ld, bool along_rows) {
  std::vector<float> given(static_cast<std::size_t>(ld * (cols - 1) + rows));
  handle.queue().start_read(*place.buffer, static_cast<std::size_t>(place.offset) * sizeof(float),
                            given.data(), given.size() * sizeof(float));
  handle.queue().finish();
  std::vector<__half> rounded(static_cast<std::size_t>(passes * rows * cols));
  const auto column = [&](std::int64_t col, std::int64_t pass) {
    return rounded.begin() + rows * (along_rows ? col * passes + pass : pass * cols + col);
  };
  in_parts(cols, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t col = from; col < to; ++col) {
      const auto begin = given.begin() + col * ld;
      std::transform(begin, begin + rows, column(col, 0), [](float value) { return __float2half_rn(value); });
      for (std::int64_t pass = 1; pass < passes; ++pass) {
        std::copy_n(column(col, 0), rows, column(col, pass));
      }
    }
  });
  Repeated repeated{handle.device().allocate(rounded.size() * sizeof(__half)),
                    along_rows ? passes * rows : rows};
  handle.queue().write(*repeated.memory, rounded.data(), rounded.size() * sizeof(__half));
  return repeated;
}

// A third of alpha times the product of FP16 copies that repeat A and B three times along K: the result is
// that of rounded operands, at the speed of three products of FP16.
class Fp16Reference final : public Reference {
 public:
  Fp16Reference(const CublasHandle& handle, const Problem& problem, const PreparedPlan::Operands& operands)
      : Reference(handle.queue()), handle_(handle.get()), problem_(problem) {
    if (problem.batch != 1) {
      throw Error(Status::unsupported, "cuBLAS-FP16: batches are not copied to FP16");
    }
    const auto place = [&](Operand operand) { return operands[static_cast<std::size_t>(operand.slot)]; };
    a_ = repeat(handle, place(operand_a), problem.a_rows(), problem.a_cols(), problem.lda,
                problem.a_op == Transpose::yes);
    b_ = repeat(handle, place(operand_b), problem.b_rows(), problem.b_cols(), problem.ldb,
                problem.b_op == Transpose::no);
    problem_.k *= passes;
    problem_.alpha /= static_cast<float>(passes);
    problem_.lda = a_.ld;
    problem_.ldb = b_.ld;
  }

  void enqueue(const PreparedPlan::Operands& operands) override {
    bench::multiply(handle_, problem_, {CUDA_R_16F, CUBLAS_COMPUTE_32F},
                    reinterpret_cast<const void*>(a_.memory->native()),
                    reinterpret_cast<const void*>(b_.memory->native()), cuda_pointer(operands, operand_c));
  }

 private:
  cublasHandle_t handle_;
  Problem problem_;
  Repeated a_, b_;
};

class Fp16 final : public ReferenceLibrary {
 public:
  Fp16(Device& device, Queue& queue) : handle_(device, queue) {}

  std::string title() const override { return "cuBLAS-FP16"; }
  std::string name() const override { return title() + " " + handle_.version() + ", K three times"; }
  bool is_fp32_accurate() const override { return false; }
  Device& device() override { return handle_.device(); }
  Queue& queue() override { return handle_.queue(); }
  double workspace_bytes(const Problem& problem) const override {
    return static_cast<double>(passes * sizeof(__half)) *
           static_cast<double>(problem.a_elements() + problem.b_elements());
  }
  std::unique_ptr<Reference> prepare(const Problem& problem,
                                     const PreparedPlan::Operands& operands) override {
    return std::make_unique<Fp16Reference>(handle_, problem, operands);
  }
  void multiply(const Problem&, const PreparedPlan::Operands&) override {
    throw Error(Status::unsupported, "cuBLAS-FP16: it needs copies of its operands");
  }

 private:
  CublasHandle handle_;
};

#if CUBLAS_VERSION >= 130000
class Emulation final : public Converting {
 public:
  Emulation(Device& device, Queue& queue)
      : Converting(device, queue, "cuBLAS-BF16x9", CUBLAS_COMPUTE_32F_EMULATED_16BFX9, true) {
    queue.with_device([&] {  // also where cuBLAS holds FP32 to be faster
      DUOGEMM_CUBLAS(cublasSetEmulationStrategy(handle().get(), CUBLAS_EMULATION_STRATEGY_EAGER));
    });
  }
};
#endif

}  // namespace

std::unique_ptr<ReferenceLibrary> make_cublas_tf32(Device& device, Queue& queue) {
  return std::make_unique<Converting>(device, queue, "cuBLAS-TF32", CUBLAS_COMPUTE_32F_FAST_TF32, false);
}

std::unique_ptr<ReferenceLibrary> make_cublas_emulation([[maybe_unused]] Device& device,
                                                        [[maybe_unused]] Queue& queue) {
#if CUBLAS_VERSION >= 130000
  return std::make_unique<Emulation>(device, queue);
#else
  return nullptr;
#endif
}

std::unique_ptr<ReferenceLibrary> make_cublas_fp16(Device& device, Queue& queue) {
  return std::make_unique<Fp16>(device, queue);
}

}  // namespace duogemm::bench
