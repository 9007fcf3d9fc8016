#include "references/own_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <limits>

#include "families/kernel_source.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "support/program.h"

namespace duogemm::bench {
namespace {

class OnDevice final : public ReferenceLibrary {
 public:
  OnDevice(Runtime& runtime, Queue& queue)
      : ReferenceLibrary("duogemm", runtime.device(), queue), runtime_(runtime) {}
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    runtime_.enqueue(problem, queue(), operands);
  }

 private:
  Runtime& runtime_;
};

class OtherKernels final : public ReferenceLibrary {
 public:
  OtherKernels(const std::string& folder, Device& device, Queue& queue)
      : ReferenceLibrary(folder, device, queue), programs_(device) {}

  std::string name() const override { return "duogemm with the kernels of " + title(); }
  bool has_our_bits() const override { return true; }
  std::unique_ptr<Reference> prepare(const Problem& problem,
                                     const PreparedPlan::Operands& operands) override {
    return std::make_unique<Multiplication>(planned(problem, operands), queue());
  }
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    planned(problem, operands).enqueue(queue(), operands);
  }

 private:
  class Multiplication final : public Reference {
   public:
    Multiplication(SelfContainedPlan plan, Queue& queue) : Reference(queue), plan_(std::move(plan)) {}
    void enqueue(const PreparedPlan::Operands& operands) override { plan_.enqueue(queue(), operands); }

   private:
    const SelfContainedPlan plan_;
  };

  SelfContainedPlan planned(const Problem& problem, const PreparedPlan::Operands& operands) {
    const Plan plan = plan_sgemm(placed(problem, operands), device().info());
    const KernelsFrom folder(title());
    return {plan, device(), programs_};
  }

  ProgramCache programs_;
};

// A call on plain arrays.
using Call = std::function<void(const Problem& problem, const float* a, const float* b, float* c)>;

class OnHost final : public ReferenceLibrary {
 public:
  explicit OnHost(Call call) : ReferenceLibrary("duogemm"), call_(std::move(call)) {}
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    call_(problem, pointer(operands, operand_a), pointer(operands, operand_b), pointer(operands, operand_c));
  }

 private:
  const Call call_;
};

Call call_of_context(const std::string& device) {
  return [context = std::make_shared<Context>(device)](const Problem& p, const float* a, const float* b,
                                                       float* c) { context->sgemm(request_of(p), a, b, c); };
}

// The entry point of MKL and OpenBLAS for batches, which is SGEMM's own where the batch is of one.
using SgemmBatchStrided = void(const char* transa, const char* transb, const int* m, const int* n,
                               const int* k, const float* alpha, const float* a, const int* lda,
                               const int* stridea, const float* b, const int* ldb, const int* strideb,
                               const float* beta, float* c, const int* ldc, const int* stridec,
                               const int* batch, std::size_t, std::size_t);
using Sgemm = void(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                   const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                   const float* beta, float* c, const int* ldc, std::size_t, std::size_t);

// The program's own, or the one that the system's loader finds. Never closed: its threads and its driver's go
// on.
void* open_drop_in() {
  const std::string file = drop_in_library(drop_in_blas).value_or(drop_in_blas);
  if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    return library;
  }
  throw Error(Status::unsupported,
              "--through blas: the drop-in library cannot be loaded: " + std::string(dlerror()));
}

template <typename Function>
Function* find(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) {
    throw Error(Status::unsupported, std::string("--through blas: the drop-in library has no ") + name);
  }
  return reinterpret_cast<Function*>(found);
}

int narrow(std::int64_t value) {
  if (value > std::numeric_limits<int>::max()) {
    throw Error(Status::unsupported, "BLAS has sizes of 32 bits; one is " + std::to_string(value));
  }
  return static_cast<int>(value);
}

Call call_of_drop_in(const std::string& device, Precision precision) {
  setenv("DUOGEMM_DEVICE", device.c_str(), 1);  // BLAS's calls name neither
  setenv("DUOGEMM_PRECISION", to_text(precision), 1);
  void* const library = open_drop_in();
  return
      [one = find<Sgemm>(library, "sgemm_"), many = find<SgemmBatchStrided>(library, "sgemm_batch_strided_")](
          const Problem& p, const float* a, const float* b, float* c) {
        const char* a_op = p.a_op == Transpose::no ? "N" : "T";
        const char* b_op = p.b_op == Transpose::no ? "N" : "T";
        const int m = narrow(p.m), n = narrow(p.n), k = narrow(p.k);
        const int lda = narrow(p.lda), ldb = narrow(p.ldb), ldc = narrow(p.ldc);
        if (p.batch == 1) {
          one(a_op, b_op, &m, &n, &k, &p.alpha, a, &lda, b, &ldb, &p.beta, c, &ldc, 1, 1);
          return;
        }
        const int stride_a = narrow(p.a_stride), stride_b = narrow(p.b_stride), stride_c = narrow(p.c_stride);
        const int batch = narrow(p.batch);
        many(a_op, b_op, &m, &n, &k, &p.alpha, a, &lda, &stride_a, b, &ldb, &stride_b, &p.beta, c, &ldc,
             &stride_c, &batch, 1, 1);
      };
}

}  // namespace

const char* name_of(Through through) {
  return through == Through::host ? "host" : through == Through::blas ? "blas" : "device";
}

std::unique_ptr<ReferenceLibrary> make_own_library(Through through, Runtime& runtime, Queue& queue,
                                                   Precision precision) {
  if (through == Through::device) {
    return std::make_unique<OnDevice>(runtime, queue);
  }
  const DeviceInfo& info = runtime.device().info();
  const std::string device = info.backend + ":" + std::to_string(info.index);
  return std::make_unique<OnHost>(through == Through::host ? call_of_context(device)
                                                           : call_of_drop_in(device, precision));
}

std::unique_ptr<ReferenceLibrary> make_library_of_kernels(const std::string& folder, Device& device,
                                                          Queue& queue) {
  return std::make_unique<OtherKernels>(folder, device, queue);
}

}  // namespace duogemm::bench
