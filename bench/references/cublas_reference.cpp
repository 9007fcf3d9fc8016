#include "references/cublas_support.h"
#include "references/library_references.h"

namespace duogemm::bench {
namespace {

int size(std::int64_t value) { return static_cast<int>(value); }

// As cuBLAS's lists want the addresses that a table holds.
template <typename Element>
Element** cuda_list(const PreparedPlan::Operands& operands, Operand operand) {
  return reinterpret_cast<Element**>(cuda_pointer(operands, operand));
}

void multiply(cublasHandle_t handle, const Problem& p, const PreparedPlan::Operands& operands) {
  const cublasOperation_t a_op = cublas_operation(p.a_op);
  const cublasOperation_t b_op = cublas_operation(p.b_op);
  if (p.batch_by == BatchBy::addresses) {
    DUOGEMM_CUBLAS(cublasSgemmBatched(handle, a_op, b_op, size(p.m), size(p.n), size(p.k), &p.alpha,
                                      cuda_list<const float>(operands, table_a), size(p.lda),
                                      cuda_list<const float>(operands, table_b), size(p.ldb), &p.beta,
                                      cuda_list<float>(operands, table_c), size(p.ldc), size(p.batch)));
    return;
  }
  const float* const a = cuda_pointer(operands, operand_a);
  const float* const b = cuda_pointer(operands, operand_b);
  float* const c = cuda_pointer(operands, operand_c);
  if (p.batch == 1) {
    DUOGEMM_CUBLAS(cublasSgemm(handle, a_op, b_op, size(p.m), size(p.n), size(p.k), &p.alpha, a, size(p.lda),
                               b, size(p.ldb), &p.beta, c, size(p.ldc)));
  } else {
    DUOGEMM_CUBLAS(cublasSgemmStridedBatched(handle, a_op, b_op, size(p.m), size(p.n), size(p.k), &p.alpha, a,
                                             size(p.lda), p.a_stride, b, size(p.ldb), p.b_stride, &p.beta, c,
                                             size(p.ldc), p.c_stride, size(p.batch)));
  }
}

class CublasReference final : public Reference {
 public:
  CublasReference(cublasHandle_t handle, Queue& queue, const Problem& problem)
      : Reference(queue), handle_(handle), problem_(problem) {}

  void enqueue(const PreparedPlan::Operands& operands) override {
    bench::multiply(handle_, problem_, operands);
  }

 private:
  cublasHandle_t handle_;
  const Problem problem_;
};

class Cublas final : public ReferenceLibrary {
 public:
  Cublas(Device& device, Queue& queue) : handle_(device, queue) {}

  std::string title() const override { return "cuBLAS"; }
  std::string name() const override { return title() + " " + handle_.version(); }
  Device& device() override { return handle_.device(); }
  Queue& queue() override { return handle_.queue(); }
  std::unique_ptr<Reference> prepare(const Problem& problem, const PreparedPlan::Operands&) override {
    return std::make_unique<CublasReference>(handle_.get(), queue(), problem);
  }
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    bench::multiply(handle_.get(), problem, operands);
  }

 private:
  CublasHandle handle_;
};

}  // namespace

std::unique_ptr<ReferenceLibrary> make_cublas(Device& device, Queue& queue) {
  return std::make_unique<Cublas>(device, queue);
}

}  // namespace duogemm::bench
