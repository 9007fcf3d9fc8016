#include "references/reference.h"

#include <algorithm>
#include <thread>

#include "cpu_backend.h"
#include "references/library_references.h"

namespace duogemm::bench {
namespace {

// Calls the library anew each time.
class Calling final : public Reference {
 public:
  Calling(ReferenceLibrary& library, const Problem& problem)
      : Reference(library.queue()), library_(library), problem_(problem) {}
  void enqueue(const PreparedPlan::Operands& operands) override { library_.multiply(problem_, operands); }
  double timed(int repeats, const Turn& turn) override {
    const double seconds = Reference::timed(repeats, turn);
    library_.rest();
    return seconds;
  }

 private:
  ReferenceLibrary& library_;
  const Problem problem_;
};

struct Known {
  std::string title;
  std::string backend;  // whose devices it is for; empty for all
  MakeLibrary* make;
};

// This build has all of these.
const std::vector<Known>& known_libraries() {
  static const std::vector<Known> known = {
#ifdef DUOGEMM_WITH_CUBLAS
      {"cuBLAS", "cuda", make_cublas},
      {"cublasLt", "cuda", make_cublaslt},
      {"cublasXt", "cuda", make_cublasxt},
      {"cuBLAS-TF32", "cuda", make_cublas_tf32},
      {"cuBLAS-BF16x9", "cuda", make_cublas_emulation},
      {"cuBLAS-FP16", "cuda", make_cublas_fp16},
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

std::unique_ptr<ReferenceLibrary> make(const std::string& title, const Surroundings& of) {
  for (const Known& known : known_libraries()) {
    if (known.title == title && (known.backend.empty() || known.backend == of.info.backend)) {
      return known.make(of);
    }
  }
  return nullptr;
}

// Titles that there are not are passed over.
std::vector<std::unique_ptr<ReferenceLibrary>> make_all(const std::vector<std::string>& titles,
                                                        const Surroundings& of) {
  std::vector<std::unique_ptr<ReferenceLibrary>> libraries;
  for (const std::string& title : titles) {
    if (auto library = make(title, of)) {
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

Surroundings around(Device& device, Queue& queue) {
  return {device.info(), &device, &queue, host_threads_beside(device.info())};
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

std::unique_ptr<Reference> ReferenceLibrary::prepare(const Problem& problem, const PreparedPlan::Operands&) {
  return std::make_unique<Calling>(*this, problem);
}

bool build_has(const std::string& title) {
  return std::ranges::any_of(known_libraries(), [&](const Known& known) { return known.title == title; });
}

std::size_t host_threads_beside(const DeviceInfo& info) {
  return info.kind == DeviceKind::cpu ? info.compute_units : std::thread::hardware_concurrency();
}

std::unique_ptr<ReferenceLibrary> make_library(const std::string& title, Device& device, Queue& queue,
                                               std::size_t host_threads) {
  return make(title, {device.info(), &device, &queue, host_threads});
}

std::unique_ptr<ReferenceLibrary> main_library(Device& device, Queue& queue) {
  return make(main_title(device.info()), around(device, queue));
}

std::vector<std::unique_ptr<ReferenceLibrary>> libraries_in_other_precisions(Device& device, Queue& queue) {
  return make_all({"cuBLAS-TF32", "cuBLAS-BF16x9", "cuBLAS-FP16"}, around(device, queue));
}

std::vector<std::unique_ptr<ReferenceLibrary>> all_libraries(Device& device, Queue& queue) {
  return make_all({main_title(device.info()), "cublasLt", "CLBlast"}, around(device, queue));
}

std::vector<std::unique_ptr<ReferenceLibrary>> libraries_on_host(const DeviceInfo& device) {
  return make_all({"cublasXt", "OpenBLAS"}, {device, nullptr, nullptr, host_threads_beside(device)});
}

}  // namespace duogemm::bench
