#include "references/own_library.h"

#include "duogemm/version.h"
#include "families/kernel_source.h"
#include "plan/lower.h"
#include "problem/precision.h"
#include "references/blas_calls.h"
#include "support/program.h"
#include "system/environment.h"
#include "system/shared_library.h"
#ifdef DUOGEMM_WITH_CUDA
#include "duogemm/cuda.hpp"
#endif
#ifdef DUOGEMM_WITH_OPENCL
#include "duogemm/opencl.hpp"
#endif

namespace duogemm::bench {
namespace {

// Ours, called by a function.
class OwnLibrary final : public ReferenceLibrary {
 public:
  using Warm = std::function<void()>;

  // where: a device and a queue, or nothing for the host's memory.
  template <typename... Where>
  OwnLibrary(std::string name, BlasCall call, Warm warm, Where&... where)
      : ReferenceLibrary("duogemm", where...),
        name_(std::move(name)),
        call_(std::move(call)),
        warm_(std::move(warm)) {}

  std::string name() const override { return name_; }
  void multiply(const Problem& problem, const Operands& operands) override { call_(problem, operands); }
  void warm() override { warm_(); }

 private:
  const std::string name_;
  const BlasCall call_;
  const Warm warm_;
};

constexpr const char* with_version = "duogemm " DUOGEMM_VERSION;

// Calls `one` with pointers to the matrices, or `listed` with lists of those of a batch.
template <typename One, typename Listed>
BlasCall on_pointers(One one, Listed listed) {
  return [one, listed](const Problem& problem, const Operands& operands) {
    if (problem.batch_by == BatchBy::strides) {
      one(request_of(problem), pointer(operands, operand_a), pointer(operands, operand_b),
          pointer(operands, operand_c));
    } else {
      listed(request_of(problem), pointer<const float*>(operands, table_a),
             pointer<const float*>(operands, table_b), pointer<float*>(operands, table_c));
    }
  };
}

std::unique_ptr<ReferenceLibrary> make_context(const std::string& name, const std::string& device) {
  const auto context = std::make_shared<Context>(device);
  return std::make_unique<OwnLibrary>(
      name,
      on_pointers([context](const auto&... arguments) { context->sgemm(arguments...); },
                  [context](const auto&... arguments) { context->sgemm_batched(arguments...); }),
      [context] { context->warm(); });
}

class OtherKernels final : public ReferenceLibrary {
 public:
  OtherKernels(const std::string& folder, Device& device, Queue& queue)
      : ReferenceLibrary(folder, device, queue), programs_(device) {}

  std::string name() const override { return "duogemm with the kernels of " + title(); }
  bool has_our_bits() const override { return true; }
  std::unique_ptr<Reference> prepare(const Problem& problem, const Operands& operands) override {
    const auto plan = std::make_shared<const SelfContainedPlan>(planned(problem, operands));
    return std::make_unique<FunctionReference>(
        queue(), [this, plan](const auto& places) { plan->enqueue(queue(), places); });
  }
  void multiply(const Problem& problem, const Operands& operands) override {
    planned(problem, operands).enqueue(queue(), operands);
  }

 private:
  SelfContainedPlan planned(const Problem& problem, const Operands& operands) {
    const Plan plan = plan_sgemm(placed(problem, operands), device().info());
    const KernelsFrom folder(title());
    return {plan, device(), programs_};
  }

  ProgramCache programs_;
};

// The program's own, or the one that the system's loader finds.
std::unique_ptr<ReferenceLibrary> make_drop_in(const std::string& device, Precision precision) {
  set_environment("DUOGEMM_DEVICE", device);  // BLAS's calls name none of these
  set_environment("DUOGEMM_PRECISION", to_text(precision));
  set_environment("DUOGEMM_LEVEL", "run_to_run");
  const SharedLibrary library({drop_in_library(drop_in_blas).value_or(drop_in_blas).string()});
  if (!library.is_open()) {
    throw Error(Status::unsupported,
                "--through blas: the drop-in library cannot be loaded: " + library.absence());
  }
  const BlasCall call = sgemm_of(library);
  if (!call) {
    throw Error(Status::unsupported, "--through blas: the drop-in library has no sgemm_");
  }
  return std::make_unique<OwnLibrary>("duogemm", call, [] {});
}

}  // namespace

const char* name_of(Through through) {
  return through == Through::host ? "host" : through == Through::blas ? "blas" : "device";
}

std::unique_ptr<ReferenceLibrary> make_own_library(Through through, Runtime& runtime, Queue& queue,
                                                   Precision precision) {
  if (through != Through::device) {
    const DeviceInfo& info = runtime.device().info();
    const std::string device = info.backend + ":" + std::to_string(info.index);
    return through == Through::host ? make_context("duogemm", device) : make_drop_in(device, precision);
  }
  const auto call = [&](const Problem& problem, const Operands& operands) {
    runtime.enqueue(problem, queue, operands);
  };
  return std::make_unique<OwnLibrary>(
      "duogemm", call, [] {}, runtime.device(), queue);
}

std::unique_ptr<ReferenceLibrary> make_public_calls(const std::string& device) {
  return make_context(with_version, device);
}

std::unique_ptr<ReferenceLibrary> make_public_calls(Device& device, [[maybe_unused]] Queue& queue) {
#ifdef DUOGEMM_WITH_CUDA
  if (device.info().backend == "cuda") {
    auto* const stream = reinterpret_cast<CUstream_st*>(queue.native());
    const auto call =
        on_pointers([stream](const auto&... arguments) { cuda::sgemm(stream, arguments...); },
                    [stream](const auto&... arguments) { cuda::sgemm_batched(stream, arguments...); });
    return std::make_unique<OwnLibrary>(
        with_version, call, [stream] { cuda::warm(stream); }, device, queue);
  }
#endif
#ifdef DUOGEMM_WITH_OPENCL
  if (device.info().backend == "opencl") {
    auto* const commands = reinterpret_cast<cl_command_queue>(queue.native());
    const auto call = [commands](const Problem& problem, const Operands& operands) {
      const auto memory = [&](Operand operand) {
        return reinterpret_cast<cl_mem>(place_of(operands, operand).buffer->native());
      };
      const opencl::Matrix a{memory(operand_a)}, b{memory(operand_b)}, c{memory(operand_c)};
      if (problem.batch_by != BatchBy::strides) {
        opencl::sgemm_batched(commands, request_of(problem), a, b, c,
                              {memory(table_a), memory(table_b), memory(table_c)});
      } else {
        opencl::sgemm(commands, request_of(problem), a, b, c);
      }
    };
    return std::make_unique<OwnLibrary>(
        with_version, call, [commands] { opencl::warm(commands); }, device, queue);
  }
#endif
  throw Error(Status::unsupported, "no calls on handles of " + device.info().backend);
}

std::unique_ptr<ReferenceLibrary> make_library_of_kernels(const std::string& folder, Device& device,
                                                          Queue& queue) {
  return std::make_unique<OtherKernels>(folder, device, queue);
}

}  // namespace duogemm::bench
