#include "references/reference.h"

#include <thread>

#include "references/library_references.h"

namespace duogemm::bench {

double Reference::timed(int repeats, const Turn& turn) {
  return queue_.timed([&] {
    for (int i = 0; i < repeats; ++i) {
      enqueue(turn(i));
    }
  });
}

std::unique_ptr<ReferenceLibrary> make_library([[maybe_unused]] const std::string& title, Device& device,
                                               [[maybe_unused]] Queue& queue,
                                               [[maybe_unused]] std::size_t host_threads) {
  [[maybe_unused]] const std::string& backend = device.info().backend;
#ifdef DUOGEMM_WITH_CUBLAS
  if (title == "cuBLAS" && backend == "cuda") {
    return make_cublas(device, queue);
  }
  if (title == "cublasLt" && backend == "cuda") {
    return make_cublaslt(device, queue);
  }
#endif
#ifdef DUOGEMM_WITH_CLBLAST
  if (title == "CLBlast" && backend == "opencl") {
    return make_clblast(device, queue);
  }
#endif
#ifdef DUOGEMM_WITH_OPENBLAS
  if (title == "OpenBLAS") {
    return make_openblas(host_threads);
  }
#endif
  return nullptr;
}

std::unique_ptr<ReferenceLibrary> main_library(Device& device, Queue& queue) {
  const DeviceInfo& info = device.info();
  if (info.backend == "cuda") {
    return make_library("cuBLAS", device, queue, 0);
  }
  return info.kind == DeviceKind::cpu ? make_library("OpenBLAS", device, queue, info.compute_units) : nullptr;
}

bool main_library_works_on_host([[maybe_unused]] const DeviceInfo& info) {
#ifdef DUOGEMM_WITH_OPENBLAS
  return info.kind == DeviceKind::cpu;
#else
  return false;
#endif
}

std::vector<std::unique_ptr<ReferenceLibrary>> libraries_on_host([[maybe_unused]] const DeviceInfo& device) {
  std::vector<std::unique_ptr<ReferenceLibrary>> libraries;
#ifdef DUOGEMM_WITH_CUBLAS
  if (device.backend == "cuda") {
    libraries.push_back(make_cublasxt(device.index));
  }
#endif
#ifdef DUOGEMM_WITH_OPENBLAS
  libraries.push_back(make_openblas(device.kind == DeviceKind::cpu ? device.compute_units
                                                                   : std::thread::hardware_concurrency()));
#endif
  return libraries;
}

std::vector<std::unique_ptr<ReferenceLibrary>> libraries_in_other_precisions([[maybe_unused]] Device& device,
                                                                             [[maybe_unused]] Queue& queue) {
  std::vector<std::unique_ptr<ReferenceLibrary>> libraries;
#ifdef DUOGEMM_WITH_CUBLAS
  if (device.info().backend == "cuda") {
    for (const auto make : {make_cublas_tf32, make_cublas_emulation, make_cublas_fp16}) {
      if (auto library = make(device, queue)) {
        libraries.push_back(std::move(library));
      }
    }
  }
#endif
  return libraries;
}

std::vector<std::unique_ptr<ReferenceLibrary>> all_libraries(Device& device, Queue& queue) {
  std::vector<std::unique_ptr<ReferenceLibrary>> libraries;
  if (auto library = main_library(device, queue)) {
    libraries.push_back(std::move(library));
  }
  for (const char* title : {"cublasLt", "CLBlast"}) {
    if (auto library = make_library(title, device, queue, 0)) {
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

}  // namespace duogemm::bench
