// This library as a program calls it: by its public calls.
#include "duogemm/version.h"
#include "references/reference.h"
#include "replay/pass.h"
#ifdef DUOGEMM_WITH_CUDA
#include "duogemm/cuda.hpp"
#endif
#ifdef DUOGEMM_WITH_OPENCL
#include "duogemm/opencl.hpp"
#endif

namespace duogemm::bench {
namespace {

class PublicCalls : public ReferenceLibrary {
 public:
  PublicCalls(Device& device, Queue& queue) : ReferenceLibrary(Subject::own_title, device, queue) {}
  std::string name() const override { return title() + " " + DUOGEMM_VERSION; }
};

bool has_lists(const Problem& problem) { return problem.batch_by != BatchBy::strides; }

class HostCalls final : public PublicCalls {
 public:
  HostCalls(const ChosenDevice& chosen, Device& host, Queue& queue)
      : PublicCalls(host, queue),
        context_(std::string(chosen.backend->name()) + ":" + std::to_string(chosen.index)) {}
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    if (has_lists(problem)) {
      context_.sgemm_batched(request_of(problem), pointer<const float*>(operands, table_a),
                             pointer<const float*>(operands, table_b), pointer<float*>(operands, table_c));
    } else {
      context_.sgemm(request_of(problem), pointer(operands, operand_a), pointer(operands, operand_b),
                     pointer(operands, operand_c));
    }
  }
  void warm() override { context_.warm(); }

 private:
  Context context_;
};

#ifdef DUOGEMM_WITH_CUDA
class CudaCalls final : public PublicCalls {
 public:
  CudaCalls(Device& device, Queue& queue)
      : PublicCalls(device, queue), stream_(reinterpret_cast<CUstream_st*>(queue.native())) {}
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    if (has_lists(problem)) {
      cuda::sgemm_batched(stream_, request_of(problem), pointer<const float*>(operands, table_a),
                          pointer<const float*>(operands, table_b), pointer<float*>(operands, table_c));
    } else {
      cuda::sgemm(stream_, request_of(problem), pointer(operands, operand_a), pointer(operands, operand_b),
                  pointer(operands, operand_c));
    }
  }
  void warm() override { cuda::warm(stream_); }

 private:
  CUstream_st* stream_;
};
#endif

#ifdef DUOGEMM_WITH_OPENCL
class OpenClCalls final : public PublicCalls {
 public:
  OpenClCalls(Device& device, Queue& queue)
      : PublicCalls(device, queue), queue_(reinterpret_cast<cl_command_queue>(queue.native())) {}
  void multiply(const Problem& problem, const PreparedPlan::Operands& operands) override {
    const auto memory = [&](Operand operand) {
      return reinterpret_cast<cl_mem>(place_of(operands, operand).buffer->native());
    };
    const opencl::Matrix a{memory(operand_a)}, b{memory(operand_b)}, c{memory(operand_c)};
    if (has_lists(problem)) {
      opencl::sgemm_batched(queue_, request_of(problem), a, b, c,
                            {memory(table_a), memory(table_b), memory(table_c)});
    } else {
      opencl::sgemm(queue_, request_of(problem), a, b, c);
    }
  }
  void warm() override { opencl::warm(queue_); }

 private:
  cl_command_queue queue_;
};
#endif

}  // namespace

std::unique_ptr<ReferenceLibrary> make_caller(const Subject& subject, Device& device, Queue& queue) {
  if (!subject.ours()) {
    auto library = make_library(subject.title, device, queue, host_threads_beside(subject.device.info()));
    if (library == nullptr) {
      throw Error(Status::unsupported, "this build has no " + subject.title + " for the device");
    }
    return library;
  }
  if (subject.through == CallMemory::host) {
    return std::make_unique<HostCalls>(subject.device, device, queue);
  }
  const std::string backend(subject.device.backend->name());
#ifdef DUOGEMM_WITH_CUDA
  if (backend == "cuda") {
    return std::make_unique<CudaCalls>(device, queue);
  }
#endif
#ifdef DUOGEMM_WITH_OPENCL
  if (backend == "opencl") {
    return std::make_unique<OpenClCalls>(device, queue);
  }
#endif
  throw Error(Status::unsupported, "no calls on handles of " + backend);
}

}  // namespace duogemm::bench
