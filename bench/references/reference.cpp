#include "references/reference.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <thread>

#include "cpu_backend.h"
#ifdef DUOGEMM_WITH_CUBLAS
#include "references/cublas_library.h"
#endif
#include "references/cpu_libraries.h"
#include "support/format.h"

namespace duogemm::bench {
namespace {

struct Known {
  std::string title;
  std::string backend;  // whose devices it is for
  MakeLibrary* make;
};

// This build has all of these, for devices of their backends.
const std::vector<Known>& known_libraries() {
  static const std::vector<Known> known = {
#ifdef DUOGEMM_WITH_CUBLAS
      {"cuBLAS", "cuda", make_cublas},        {"cublasLt", "cuda", make_cublaslt},
      {"cublasXt", "cuda", make_cublas},      {"cuBLAS-TF32", "cuda", make_cublas},
      {"cuBLAS-BF16x9", "cuda", make_cublas}, {"cuBLAS-FP16", "cuda", make_cublas},
      {"GEMMul8", "cuda", make_cublas},
#endif
#ifdef DUOGEMM_WITH_CLBLAST
      {"CLBlast", "opencl", make_clblast},
#endif
  };
  return known;
}

// Null where the library works on a device.
const CpuLibrary* find_on_host(const std::string& title) {
  const auto found = std::ranges::find(cpu_libraries(), title, &CpuLibrary::title);
  return found == cpu_libraries().end() ? nullptr : &*found;
}

// The variables of the environment that may make the library take other kernels than its best.
std::vector<std::string> variables_that_slow(const std::string& title) {
  const CpuLibrary* library = find_on_host(title);
  return library != nullptr       ? library->slowed_by
         : title == "cuBLAS-TF32" ? std::vector<std::string>{"NVIDIA_TF32_OVERRIDE"}
                                  : std::vector<std::string>();
}

bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

// Titles that there are not are passed over.
ReferenceLibraries make_all(const std::vector<std::string>& titles, const Wanted& wanted,
                            const DeviceInfo& info, Device* device = nullptr, Queue* queue = nullptr) {
  ReferenceLibraries libraries;
  for (const std::string& title : titles) {
    auto library =
        wanted(title) ? make_library(title, {info, device, queue, host_threads_beside(info)}) : nullptr;
    if (library != nullptr) {
      libraries.push_back(std::move(library));
    }
  }
  return libraries;
}

// The first that there is is the main one.
std::vector<std::string> main_titles(const DeviceInfo& info) {
  return info.backend == "cuda"         ? std::vector<std::string>{"cuBLAS"}
         : info.kind == DeviceKind::cpu ? titles_on_host()
                                        : std::vector<std::string>();
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

std::vector<std::string> titles_on_host() {
  std::vector<std::string> titles;
  std::ranges::transform(cpu_libraries(), std::back_inserter(titles), &CpuLibrary::title);
  return titles;
}

bool works_on_host(const std::string& title) { return find_on_host(title) != nullptr; }

std::string absence_of(const std::string& title) {
  if (const CpuLibrary* library = find_on_host(title)) {
    return SharedLibrary(library->files).is_open() ? "" : "there is no " + join(library->files, " or ");
  }
  const auto known = std::ranges::find(known_libraries(), title, &Known::title);
  if (known == known_libraries().end()) {
    return "this build has no such library";
  }
#ifdef DUOGEMM_WITH_CUBLAS
  if (known->backend == "cuda" && cublas() == nullptr) {
    return "cuBLAS is not on this machine";
  }
  if (title == "GEMMul8") {
    return gemmul8().absence;
  }
#endif
  return "";
}

std::optional<std::string> weak_kernels_warning(const std::string& title, const std::string& name) {
  std::vector<std::string> obeyed;
  for (const std::string& variable : variables_that_slow(title)) {
    if (const char* const value = std::getenv(variable.c_str())) {
      obeyed.push_back(variable + "=" + value);
    }
  }
  if (!obeyed.empty()) {
    return title + " obeys " + join(obeyed) + ": without that it may be faster";
  }
  const auto names = [&](const std::string& kernels) {
    return name.find("(" + kernels + ")") != std::string::npos;
  };
  const CpuLibrary* library = find_on_host(title);
  if (library != nullptr && has_avx2() && std::ranges::any_of(library->old_kernels, names)) {
    return name +
           " uses kernels for processors older than this one, without AVX2: a newer version or another build "
           "may be several times as fast";
  }
  return std::nullopt;
}

std::size_t host_threads_beside(const DeviceInfo& info) {
  return info.kind == DeviceKind::cpu ? info.compute_units : std::thread::hardware_concurrency();
}

std::unique_ptr<ReferenceLibrary> make_library(const std::string& title, const Surroundings& of) {
  if (const CpuLibrary* library = find_on_host(title)) {
    return make_cpu_library(*library, of.host_threads);
  }
  const auto known = std::ranges::find(known_libraries(), title, &Known::title);
  return known != known_libraries().end() && known->backend == of.info.backend ? known->make(title, of)
                                                                               : nullptr;
}

std::unique_ptr<ReferenceLibrary> main_library(Device& device, Queue& queue) {
  const DeviceInfo& info = device.info();
  for (const std::string& title : main_titles(info)) {
    if (auto library = make_library(title, {info, &device, &queue, host_threads_beside(info)})) {
      return library;
    }
  }
  return nullptr;
}

ReferenceLibraries libraries_in_other_precisions(Device& device, Queue& queue, const Wanted& wanted) {
  return make_all({"cuBLAS-TF32", "cuBLAS-BF16x9", "cuBLAS-FP16", "GEMMul8"}, wanted, device.info(), &device,
                  &queue);
}

ReferenceLibraries all_libraries(Device& device, Queue& queue, const Wanted& wanted) {
  std::vector<std::string> titles = main_titles(device.info());
  titles.insert(titles.end(), {"cublasLt", "CLBlast"});
  return make_all(titles, wanted, device.info(), &device, &queue);
}

ReferenceLibraries libraries_on_host(const DeviceInfo& device, const Wanted& wanted) {
  std::vector<std::string> titles = titles_on_host();
  titles.insert(titles.begin(), "cublasXt");
  return make_all(titles, wanted, device);
}

}  // namespace duogemm::bench
