// Compiles the programs that the library carries, and puts them into an archive:
//   duogemm_prebuild ARCHIVE RUNTIME...
// A runtime is "cuda" or "opencl". For each of them, and each tuning file that speaks of it and names a
// compute capability, the programs that such a device may need. Programs that ARCHIVE has already are not
// compiled again. Needs no device: NVRTC does without.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <regex>
#include <thread>

#include "device/backend.h"
#include "nvrtc_compile.h"
#include "prebuild/program_archive.h"
#include "system/files.h"
#include "system/temporary_directory.h"

namespace duogemm::cuda {
namespace {

constexpr const char* texture_mode = ", texmode_independent";
constexpr const char* global_pointer = ".param .u64 .ptr .global .align 4 ";

// OpenCL's texture mode, and pointers to global memory: without these words the driver takes a program, too,
// and its kernels fault, because they are not given the buffers' addresses. Numbers are members of a struct,
// so that what has 64 bits is a pointer ("Kernel Function Parameter Attributes" in the PTX ISA).
std::string with_words_of_opencl(const std::string& ptx) {
  static const std::regex target(R"(\.target sm_\d+)");
  static const std::regex pointer(R"(\.param \.u64 (\.ptr \.align \d+ )?(\w+_param_\d+))");
  if (!std::regex_search(ptx, target) || !std::regex_search(ptx, pointer)) {
    throw Error(Status::build_failed, "the PTX of this NVRTC names its target or pointers in another way");
  }
  return std::regex_replace(std::regex_replace(ptx, target, std::string("$&") + texture_mode), pointer,
                            std::string(global_pointer) + "$2");
}

// A program for NVIDIA's OpenCL driver, made without it by CUDA's compiler and assembler: what
// clCreateProgramWithBinary takes for a device of exactly this compute capability. Throws build_failed with
// the compiler's or the assembler's log.
std::string opencl_cubin(const ProgramSource& program, int compute_capability) {
  const TemporaryDirectory directory;
  const std::filesystem::path source = directory.path() / "program.ptx";
  const std::filesystem::path cubin = directory.path() / "program.cubin";
  std::ofstream(source) << with_words_of_opencl(ptx_for_opencl(program, compute_capability));
  const std::filesystem::path log = directory.path() / "log";
  const auto quoted = [](const std::string& word) { return " '" + word + "'"; };
  const std::string command = quoted(DUOGEMM_PTXAS) + " -arch=sm_" + std::to_string(compute_capability) +
                              quoted(source) + " -o" + quoted(cubin) + " >" + quoted(log) + " 2>&1";
  if (std::system(command.c_str()) != 0) {
    throw Error(Status::build_failed, DUOGEMM_PTXAS ": " + read_file(log).value_or(""));
  }
  return read_file(cubin).value_or("");
}

// Names the compiler, with all that a program's key leaves out.
std::string compiler_text(const std::vector<ShippedProgram>& wanted) {
  std::string text = "NVRTC " + nvrtc_version();
  if (!wanted.empty()) {
    ProgramSource source = wanted.front().source;
    source.defines.clear();
    text += " " + nvrtc_option_text(source, wanted.front().compute_capability);
  }
  return text + " " + global_pointer + texture_mode;
}

std::string compile(const ShippedProgram& wanted) {
  if (wanted.runtime == "opencl") {
    return opencl_cubin(wanted.source, wanted.compute_capability);
  }
  NvrtcProgram program = compile_with_nvrtc(wanted.source, wanted.compute_capability);
  if (!program.native) {
    throw Error(Status::unsupported, "NVRTC " + nvrtc_version() + " does not know compute capability " +
                                         std::to_string(wanted.compute_capability));
  }
  return std::move(program.image);
}

// On all cores. Throws what the first that failed did.
std::vector<ArchivedProgram> compile_all(const std::vector<ShippedProgram>& wanted,
                                         const ProgramArchive& known) {
  std::vector<ArchivedProgram> programs(wanted.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < wanted.size(); i = next++) {
        const ProgramKey key = program_key(wanted[i].source, wanted[i].runtime, wanted[i].compute_capability);
        const std::optional<std::string> image = known.find(key);
        programs[i] = {key, image ? *image : compile(wanted[i])};
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = failure ? failure : std::current_exception();
      next = wanted.size();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1u); ++i) {
      threads.emplace_back(work);
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
  return programs;
}

int run(const char* path, const std::vector<std::string>& runtimes) {
  const std::vector<ShippedProgram> wanted = programs_to_ship(runtimes);
  const std::string compiler = compiler_text(wanted);
  const std::string before = read_file(path).value_or("");
  const ProgramArchive old(before);
  const ProgramArchive known(old.compiler() == compiler ? std::string_view(before) : std::string_view());
  const std::string archive = make_archive(compiler, compile_all(wanted, known));
  if (archive != before) {  // or else nothing needs to be built anew
    std::ofstream file(path, std::ios::binary);
    file << archive;
    if (!file.flush()) {
      throw Error(Status::device_error, std::string("could not write ") + path);
    }
  }
  return 0;
}

}  // namespace
}  // namespace duogemm::cuda

// Nothing here asks for devices, but where many sources are compiled as one, what asks for them comes along.
const std::vector<const duogemm::Backend*>& duogemm::backends() {
  static const std::vector<const Backend*> none;
  return none;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "duogemm_prebuild ARCHIVE RUNTIME...\n");
    return 2;
  }
  try {
    return duogemm::cuda::run(argv[1], {argv + 2, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "duogemm_prebuild: %s\n", error.what());
    return 1;
  }
}
