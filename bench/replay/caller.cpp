#include "replay/caller.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "duogemm/version.h"
#include "references/reference.h"
#include "replay/operands.h"

namespace duogemm::bench {
namespace {

template <typename Element>
Element* array(const PreparedPlan::Operands& operands, Operand operand) {
  const Buffer* buffer = operands[static_cast<std::size_t>(operand.slot)].buffer;
  return reinterpret_cast<Element*>(buffer->native());
}

class HostCaller final : public Caller {
 public:
  explicit HostCaller(const ChosenDevice& device)
      : context_(std::string(device.backend->name()) + ":" + std::to_string(device.index)) {}
  std::string name() const override { return std::string("duogemm ") + DUOGEMM_VERSION; }
  void call(const TraceCall& call, const PreparedPlan::Operands& operands) override {
    const Sgemm request = request_of(call.problem);
    if (call.batch == CallBatch::lists) {
      context_.sgemm_batched(request, array<const float*>(operands, table_a),
                             array<const float*>(operands, table_b), array<float*>(operands, table_c));
    } else {
      context_.sgemm(request, array<const float>(operands, operand_a),
                     array<const float>(operands, operand_b), array<float>(operands, operand_c));
    }
  }
  void warm() override { context_.warm(); }

 private:
  Context context_;
};

class LibraryCaller final : public Caller {
 public:
  LibraryCaller(std::unique_ptr<ReferenceLibrary> library, BatchBy lists)
      : library_(std::move(library)), lists_(lists) {}
  std::string name() const override { return library_->name(); }
  void call(const TraceCall& call, const PreparedPlan::Operands& operands) override {
    if (call.batch == CallBatch::strides) {
      library_->multiply(call.problem, operands);
      return;
    }
    Problem problem = call.problem;
    problem.batch_by = lists_;
    library_->multiply(problem, operands);
  }

 private:
  std::unique_ptr<ReferenceLibrary> library_;
  const BatchBy lists_;
};

// OpenBLAS has as many threads as the device that it stands beside, if that is a CPU.
std::size_t threads_beside(const DeviceInfo& info) {
  return info.kind == DeviceKind::cpu ? info.compute_units : std::thread::hardware_concurrency();
}

std::unique_ptr<Caller> make_own_caller(const Subject& subject, [[maybe_unused]] Queue& queue) {
  if (subject.through == CallMemory::host) {
    return std::make_unique<HostCaller>(subject.device);
  }
#ifdef DUOGEMM_WITH_CUDA
  if (subject.device.backend->name() == "cuda") {
    return make_cuda_caller(queue);
  }
#endif
#ifdef DUOGEMM_WITH_OPENCL
  if (subject.device.backend->name() == "opencl") {
    return make_opencl_caller(queue);
  }
#endif
  throw Error(Status::unsupported, "no calls on handles of " + std::string(subject.device.backend->name()));
}

}  // namespace

std::unique_ptr<Caller> make_caller(const Subject& subject, Device& device, Queue& queue) {
  if (subject.ours()) {
    return make_own_caller(subject, queue);
  }
  auto library = make_library(subject.title, device, queue, threads_beside(subject.device.info()));
  if (library == nullptr) {
    throw Error(Status::unsupported, "this build has no " + subject.title + " for the device");
  }
  return std::make_unique<LibraryCaller>(std::move(library), lists_on(device.info()));
}

bool build_has(const std::string& title) {
  std::vector<std::string> titles;
#ifdef DUOGEMM_WITH_CUBLAS
  titles.insert(titles.end(), {"cuBLAS", "cublasLt"});
#endif
#ifdef DUOGEMM_WITH_CLBLAST
  titles.push_back("CLBlast");
#endif
#ifdef DUOGEMM_WITH_OPENBLAS
  titles.push_back("OpenBLAS");
#endif
  return std::find(titles.begin(), titles.end(), title) != titles.end();
}

}  // namespace duogemm::bench
