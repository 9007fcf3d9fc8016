#include "nvrtc_compile.h"

#include <cuda.h>
#include <nvrtc.h>

#include <algorithm>
#include <vector>

#include "library_files.h"
#include "toolkit_library.h"

namespace duogemm::cuda {
namespace {

// The one of this build's toolkit first, whose machine code the driver takes that the build is for.
std::vector<std::string> nvrtc_files() {
  return {nvrtc_file(CUDA_VERSION / 1000), nvrtc_file(13), nvrtc_file(12), nvrtc_file(11)};
}

// NVRTC opens its builtins by name, which the loader finds in NVRTC's own folder only where that is among its
// folders. Once they are open, they are found.
SharedLibrary open_nvrtc() {
  SharedLibrary library = open_of_toolkit(nvrtc_files());
  decltype(&nvrtcVersion) version = nullptr;
  int major = 0;
  int minor = 0;
  if (library.find("nvrtcVersion", version) && version(&major, &minor) == NVRTC_SUCCESS) {
    const SharedLibrary opened({(library.folder() / nvrtc_builtins_file(major, minor)).string()});
  }
  return library;
}

const SharedLibrary& nvrtc() {
  static const SharedLibrary library = open_nvrtc();
  return library;
}

// Throws unsupported where there is no NVRTC, or one without this function.
template <typename Function>
Function* find(const char* name) {
  Function* function = nullptr;
  if (!nvrtc().is_open()) {
    throw Error(Status::unsupported, missing_library("CUDA's compiler NVRTC", "nvidia-cuda-nvrtc", nvrtc()));
  }
  if (!nvrtc().find(name, function)) {
    throw Error(Status::unsupported, std::string("an NVRTC that is newer: this one has no ") + name);
  }
  return function;
}

void check(nvrtcResult result, const char* name) {
  if (result != NVRTC_SUCCESS) {
    throw Error(Status::build_failed, std::string("NVRTC: ") + name + " returned " +
                                          find<decltype(nvrtcGetErrorString)>("nvrtcGetErrorString")(result));
  }
}

// Calls a function of NVRTC and checks what it returns: DUOGEMM_NVRTC(nvrtcVersion, &major, &minor).
#define DUOGEMM_NVRTC(name, ...) check(find<decltype(name)>(#name)(__VA_ARGS__), #name)

class Program {
 public:
  explicit Program(const ProgramSource& source) : entry_(source.entry) {
    DUOGEMM_NVRTC(nvrtcCreateProgram, &program_, source.text.c_str(), source.entry.c_str(), 0, nullptr,
                  nullptr);
  }
  ~Program() { find<decltype(nvrtcDestroyProgram)>("nvrtcDestroyProgram")(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Throws build_failed with the log.
  void compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) {
      pointers.push_back(option.c_str());
    }
    const auto compile = find<decltype(nvrtcCompileProgram)>("nvrtcCompileProgram");
    if (compile(program_, static_cast<int>(pointers.size()), pointers.data()) != NVRTC_SUCCESS) {
      throw Error(Status::build_failed, "NVRTC: " + entry_ + ": " + log());
    }
  }

  std::string log() const { return fetch("nvrtcGetProgramLogSize", "nvrtcGetProgramLog"); }
  std::string cubin() const { return fetch("nvrtcGetCUBINSize", "nvrtcGetCUBIN"); }
  std::string ptx() const { return fetch("nvrtcGetPTXSize", "nvrtcGetPTX"); }

 private:
  // Fetches a text by the pair of functions that NVRTC has for it.
  std::string fetch(const char* get_size, const char* get) const {
    std::size_t size = 0;
    check(find<decltype(nvrtcGetPTXSize)>(get_size)(program_, &size), get_size);
    std::string text(size, '\0');
    check(find<decltype(nvrtcGetPTX)>(get)(program_, text.data()), get);
    return text;
  }

  std::string entry_;
  nvrtcProgram program_ = nullptr;
};

std::vector<int> known_capabilities() {
  int count = 0;
  DUOGEMM_NVRTC(nvrtcGetNumSupportedArchs, &count);
  std::vector<int> known(static_cast<std::size_t>(count));
  DUOGEMM_NVRTC(nvrtcGetSupportedArchs, known.data());
  return known;
}

// The newest capability that both this NVRTC and the device have.
int best_capability(int device) {
  const std::vector<int> known = known_capabilities();
  const auto above = std::upper_bound(known.begin(), known.end(), device);
  if (above == known.begin()) {
    throw Error(Status::unsupported, "compute capability " + std::to_string(known.front()) +
                                         ", the oldest that this CUDA toolkit compiles for; the device has " +
                                         std::to_string(device));
  }
  return *(above - 1);
}

std::vector<std::string> nvrtc_options(const ProgramSource& source, int compute_capability) {
  const int target = best_capability(compute_capability);
  const bool native = target == compute_capability;
  std::vector<std::string> options = {std::string("--gpu-architecture=") + (native ? "sm_" : "compute_") +
                                      std::to_string(target) + (source.one_capability && native ? "a" : "")};
  options.push_back("--fmad=false");  // only an explicit fma is fused
  options.push_back("--std=c++17");
  // The names of compat/'s vectors are anonymous structures in unions, which NVRTC before 13 accepts only so.
  options.push_back("-Xcudafe=--nonstd_anonymous_unions");
  for (const auto& [name, value] : source.defines) {
    options.push_back("-D" + name + "=" + std::to_string(value));
  }
  return options;
}

}  // namespace

int oldest_capability() { return known_capabilities().front(); }

std::string nvrtc_option_text(const ProgramSource& source, int compute_capability) {
  std::string joined;
  for (const std::string& option : nvrtc_options(source, compute_capability)) {
    joined += option + " ";
  }
  return joined;
}

KernelFacts texts_of(const NvrtcProgram& program) {
  return {.log = program.log, .ptx = program.ptx, .cubin = program.native ? program.image : ""};
}

NvrtcProgram compile_with_nvrtc(const ProgramSource& source, int compute_capability, bool explain) {
  Program program(source);
  std::vector<std::string> options = nvrtc_options(source, compute_capability);
  if (explain) {
    options.push_back("--ptxas-options=-v");
  }
  program.compile(options);
  const bool native = best_capability(compute_capability) == compute_capability;
  return {native ? program.cubin() : program.ptx(), program.ptx(), program.log(), native};
}

std::string ptx_for_opencl(const ProgramSource& source, int compute_capability) {
  Program program(source);
  std::vector<std::string> options = nvrtc_options(source, compute_capability);
  options.front() = "--gpu-architecture=compute_" + std::to_string(compute_capability);
  options.push_back("-DDUOGEMM_FOR_OPENCL");
  program.compile(options);
  std::string ptx = program.ptx();
  ptx.resize(ptx.find_last_not_of('\0') + 1);
  return ptx;
}

std::string nvrtc_version() {
  if (!nvrtc().is_open()) {
    return "none";
  }
  int major = 0;
  int minor = 0;
  DUOGEMM_NVRTC(nvrtcVersion, &major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

}  // namespace duogemm::cuda
