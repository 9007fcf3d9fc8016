#include <cublasXt.h>

#include <algorithm>

#include "machine/host_device.h"
#include "references/cublas_support.h"
#include "references/library_references.h"

namespace duogemm::bench {
namespace {

// Large blocks are copied less often; several must be there at once.
int block_side(const Problem& p) {
  return static_cast<int>(std::clamp<std::int64_t>(std::max({p.m, p.n, p.k}) / 4, 1024, 8192));
}

// The members of a batch one after the other: cublasXt has no call for all of them.
void multiply_members(cublasXtHandle_t handle, const Problem& p, const PreparedPlan::Operands& operands) {
  DUOGEMM_CUBLAS(cublasXtSetBlockDim(handle, block_side(p)));
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  for (std::int64_t i = 0; i < p.batch; ++i) {
    DUOGEMM_CUBLAS(cublasXtSgemm(handle, cublas_operation(p.a_op), cublas_operation(p.b_op), size(p.m),
                                 size(p.n), size(p.k), &p.alpha,
                                 cuda_pointer(operands, operand_a) + i * p.a_stride, size(p.lda),
                                 cuda_pointer(operands, operand_b) + i * p.b_stride, size(p.ldb), &p.beta,
                                 cuda_pointer(operands, operand_c) + i * p.c_stride, size(p.ldc)));
  }
}

class CublasXtReference final : public Reference {
 public:
  CublasXtReference(cublasXtHandle_t handle, Queue& queue, const Problem& problem)
      : Reference(queue), handle_(handle), problem_(problem) {}

  void enqueue(const PreparedPlan::Operands& operands) override {
    multiply_members(handle_, problem_, operands);
  }

 private:
  cublasXtHandle_t handle_;
  const Problem problem_;
};

// Takes operands in the host's memory, as our own call on plain arrays does, and returns when C is there.
class CublasXt final : public ReferenceLibrary {
 public:
  explicit CublasXt(std::size_t device) : host_(open_host()), queue_(host_->create_queue()) {
    DUOGEMM_CUBLAS(cublasXtCreate(&handle_));
    int number = static_cast<int>(device);
    DUOGEMM_CUBLAS(cublasXtDeviceSelect(handle_, 1, &number));
  }
  ~CublasXt() override { cublasXtDestroy(handle_); }
  CublasXt(const CublasXt&) = delete;
  CublasXt& operator=(const CublasXt&) = delete;

  std::string title() const override { return "cublasXt"; }
  std::string name() const override {
    int major = 0, minor = 0, patch = 0;
    DUOGEMM_CUBLAS(cublasGetProperty(MAJOR_VERSION, &major));
    DUOGEMM_CUBLAS(cublasGetProperty(MINOR_VERSION, &minor));
    DUOGEMM_CUBLAS(cublasGetProperty(PATCH_LEVEL, &patch));
    return title() + " " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  }
  Device& device() override { return *host_; }
  Queue& queue() override { return *queue_; }
  std::unique_ptr<Reference> prepare(const Problem& problem, const PreparedPlan::Operands&) override {
    return std::make_unique<CublasXtReference>(handle_, *queue_, problem);
  }
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    multiply_members(handle_, problem, operands);
  }

 private:
  std::unique_ptr<Device> host_;
  std::unique_ptr<Queue> queue_;
  cublasXtHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<ReferenceLibrary> make_cublasxt(std::size_t device) {
  return std::make_unique<CublasXt>(device);
}

}  // namespace duogemm::bench
