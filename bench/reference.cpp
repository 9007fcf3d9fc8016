#include "reference.h"

#include "library_references.h"

namespace duogemm::bench {

double Reference::timed(int repeats, const Turn& turn) {
  return queue_.timed([&] {
    for (int i = 0; i < repeats; ++i) {
      enqueue(turn(i));
    }
  });
}

std::unique_ptr<ReferenceLibrary> main_library([[maybe_unused]] Device& device,
                                               [[maybe_unused]] Queue& queue) {
#ifdef DUOGEMM_WITH_CUBLAS
  if (device.info().backend == "cuda") {
    return make_cublas(device, queue);
  }
#endif
#ifdef DUOGEMM_WITH_OPENBLAS
  if (device.info().kind == DeviceKind::cpu) {
    return make_openblas(device.info().compute_units);
  }
#endif
  return nullptr;
}

std::vector<std::unique_ptr<ReferenceLibrary>> all_libraries(Device& device, Queue& queue) {
  std::vector<std::unique_ptr<ReferenceLibrary>> libraries;
  if (auto library = main_library(device, queue)) {
    libraries.push_back(std::move(library));
  }
#ifdef DUOGEMM_WITH_CUBLAS
  if (device.info().backend == "cuda") {
    libraries.push_back(make_cublaslt(device, queue));
  }
#endif
#ifdef DUOGEMM_WITH_CLBLAST
  if (device.info().backend == "opencl") {
    libraries.push_back(make_clblast(device, queue));
  }
#endif
  return libraries;
}

}  // namespace duogemm::bench
