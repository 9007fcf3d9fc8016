#include "references/reference.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "cpu_backend.h"
#ifdef DUOGEMM_WITH_OPENBLAS
#include <cblas.h>
#endif
#ifdef DUOGEMM_WITH_CUBLAS
#include "references/cublas_library.h"
#endif

namespace duogemm::bench {
namespace {

#ifdef DUOGEMM_WITH_OPENBLAS
CBLAS_TRANSPOSE operation(Transpose op) { return op == Transpose::no ? CblasNoTrans : CblasTrans; }

// OpenBLAS's threads look out for more work for a tenth of a second before they sleep (its THREAD_TIMEOUT, in
// clock ticks), and would take the cores from whoever is timed next. Waits until the process takes next to no
// time of its processors, but not for ever.
void await_sleeping_threads() {
  constexpr std::chrono::milliseconds a_moment{5};
  constexpr int most_moments = 100;
  for (int i = 0; i < most_moments; ++i) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(a_moment);
    if (static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 1e-3) {
      return;
    }
  }
}

// Works on the calling process's own threads.
class OpenBlas final : public ReferenceLibrary {
 public:
  explicit OpenBlas(std::size_t threads) : ReferenceLibrary("OpenBLAS") {
    openblas_set_num_threads(static_cast<int>(threads));
  }

  std::string name() const override {
    // "OpenBLAS 0.3.21 DYNAMIC_ARCH ...": the first two words are enough.
    const std::string configuration = openblas_get_config();
    const std::size_t second = configuration.find(' ', configuration.find(' ') + 1);
    return configuration.substr(0, second) + " (" + openblas_get_corename() + ", " +
           std::to_string(openblas_get_num_threads()) + " threads)";
  }

  // The members of a batch one after the other: not every release has a call for all of them.
  void multiply(const Problem& p, const Operands& operands) override {
    const auto size = [](std::int64_t value) { return static_cast<blasint>(value); };
    for (std::int64_t i = 0; i < p.batch; ++i) {
      cblas_sgemm(CblasColMajor, operation(p.a_op), operation(p.b_op), size(p.m), size(p.n), size(p.k),
                  p.alpha, pointer(operands, operand_a) + i * p.a_stride, size(p.lda),
                  pointer(operands, operand_b) + i * p.b_stride, size(p.ldb), p.beta,
                  pointer(operands, operand_c) + i * p.c_stride, size(p.ldc));
    }
  }

  void rest() override { await_sleeping_threads(); }
};

std::unique_ptr<ReferenceLibrary> make_openblas(const std::string&, const Surroundings& of) {
  return std::make_unique<OpenBlas>(of.host_threads);
}
#endif

struct Known {
  std::string title;
  std::string backend;  // whose devices it is for; empty for all
  MakeLibrary* make;
};

// This build has all of these.
const std::vector<Known>& known_libraries() {
  static const std::vector<Known> known = {
#ifdef DUOGEMM_WITH_CUBLAS
      {"cuBLAS", "cuda", make_cublas},        {"cublasLt", "cuda", make_cublaslt},
      {"cublasXt", "cuda", make_cublas},      {"cuBLAS-TF32", "cuda", make_cublas},
      {"cuBLAS-BF16x9", "cuda", make_cublas}, {"cuBLAS-FP16", "cuda", make_cublas},
#endif
#ifdef DUOGEMM_WITH_CLBLAST
      {"CLBlast", "opencl", make_clblast},
#endif
#ifdef DUOGEMM_WITH_OPENBLAS
      {"OpenBLAS", "", make_openblas},
#endif
  };
  return known;
}

// Titles that there are not are passed over.
ReferenceLibraries make_all(const std::vector<std::string>& titles, const DeviceInfo& info,
                            Device* device = nullptr, Queue* queue = nullptr) {
  ReferenceLibraries libraries;
  for (const std::string& title : titles) {
    if (auto library = make_library(title, {info, device, queue, host_threads_beside(info)})) {
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

// Answers an empty title where such a device has no main library.
const char* main_title(const DeviceInfo& info) {
  return info.backend == "cuda" ? "cuBLAS" : info.kind == DeviceKind::cpu ? "OpenBLAS" : "";
}

}  // namespace

double Reference::timed(int repeats, const Turn& turn) {
  return queue_.timed([&] {
    for (int i = 0; i < repeats; ++i) {
      enqueue(turn(i));
    }
  });
}

ReferenceLibrary::ReferenceLibrary(std::string title)
    : title_(std::move(title)),
      host_(cpu_backend().open(0, {})),
      host_queue_(host_->create_queue()),
      device_(*host_),
      queue_(*host_queue_) {}

std::unique_ptr<Reference> ReferenceLibrary::prepare(const Problem& problem, const Operands&) {
  return std::make_unique<FunctionReference>(
      queue(), [this, problem](const Operands& operands) { multiply(problem, operands); },
      [this] { rest(); });
}

bool is_here(const std::string& title) {
  const auto known = std::ranges::find(known_libraries(), title, &Known::title);
#ifdef DUOGEMM_WITH_CUBLAS
  if (known != known_libraries().end() && known->backend == "cuda") {
    return cublas() != nullptr;
  }
#endif
  return known != known_libraries().end();
}

std::size_t host_threads_beside(const DeviceInfo& info) {
  return info.kind == DeviceKind::cpu ? info.compute_units : std::thread::hardware_concurrency();
}

std::unique_ptr<ReferenceLibrary> make_library(const std::string& title, const Surroundings& of) {
  const auto known = std::ranges::find(known_libraries(), title, &Known::title);
  return known != known_libraries().end() && (known->backend.empty() || known->backend == of.info.backend)
             ? known->make(title, of)
             : nullptr;
}

std::unique_ptr<ReferenceLibrary> main_library(Device& device, Queue& queue) {
  ReferenceLibraries found = make_all({main_title(device.info())}, device.info(), &device, &queue);
  return found.empty() ? nullptr : std::move(found.front());
}

ReferenceLibraries libraries_in_other_precisions(Device& device, Queue& queue) {
  return make_all({"cuBLAS-TF32", "cuBLAS-BF16x9", "cuBLAS-FP16"}, device.info(), &device, &queue);
}

ReferenceLibraries all_libraries(Device& device, Queue& queue) {
  return make_all({main_title(device.info()), "cublasLt", "CLBlast"}, device.info(), &device, &queue);
}

ReferenceLibraries libraries_on_host(const DeviceInfo& device) {
  return make_all({"cublasXt", "OpenBLAS"}, device);
}

}  // namespace duogemm::bench
