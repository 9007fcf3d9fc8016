#include <cublas_v2.h>

#include "library_references.h"

namespace duogemm::bench {
namespace {

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw Error(Status::device_error,
                std::string("cuBLAS: ") + call + " returned " + cublasGetStatusString(status));
  }
}

#define DUOGEMM_CUBLAS(call) check(call, #call)

cublasOperation_t operation(Transpose op) { return op == Transpose::no ? CUBLAS_OP_N : CUBLAS_OP_T; }

// cuBLAS takes the pointers and the stream of our own backend: both live in the device's primary context,
// which the CUDA runtime inside cuBLAS uses too.
class CublasReference final : public Reference {
 public:
  CublasReference(Queue& queue, const Problem& problem, const PreparedPlan::Operands& operands)
      : queue_(queue), problem_(problem), operands_(operands) {
    queue.with_device([&] {
      DUOGEMM_CUBLAS(cublasCreate(&handle_));
      DUOGEMM_CUBLAS(cublasSetStream(handle_, reinterpret_cast<cudaStream_t>(queue.native())));
      DUOGEMM_CUBLAS(
          cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH));  // FP32 throughout: TF32 is another mode
    });
  }
  ~CublasReference() override {
    queue_.with_device([&] { cublasDestroy(handle_); });
  }
  CublasReference(const CublasReference&) = delete;
  CublasReference& operator=(const CublasReference&) = delete;

  std::string name() const override {
    int version = 0;
    DUOGEMM_CUBLAS(cublasGetVersion(handle_, &version));
    return "cuBLAS " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
  }

  double run(int repeats) override {
    return queue_.timed([&] {
      for (int i = 0; i < repeats; ++i) {
        enqueue();
      }
    });
  }

  std::vector<float> result() override {
    queue_.with_device([&] { enqueue(); });
    std::vector<float> c(static_cast<std::size_t>(problem_.c_extent()));
    queue_.read(*operands_[operand_c.slot].buffer, c.data(), c.size() * sizeof(float));
    return c;
  }

 private:
  void enqueue() {
    const auto pointer = [&](Operand operand) {
      return reinterpret_cast<float*>(operands_[static_cast<std::size_t>(operand.slot)].buffer->native());
    };
    DUOGEMM_CUBLAS(cublasSgemm(handle_, operation(problem_.a_op), operation(problem_.b_op), size(problem_.m),
                               size(problem_.n), size(problem_.k), &problem_.alpha, pointer(operand_a),
                               size(problem_.lda), pointer(operand_b), size(problem_.ldb), &problem_.beta,
                               pointer(operand_c), size(problem_.ldc)));
  }
  static int size(std::int64_t value) { return static_cast<int>(value); }

  Queue& queue_;
  const Problem problem_;
  const PreparedPlan::Operands operands_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<Reference> make_cublas_reference(Queue& queue, const Problem& problem,
                                                 const PreparedPlan::Operands& operands) {
  return std::make_unique<CublasReference>(queue, problem, operands);
}

}  // namespace duogemm::bench
