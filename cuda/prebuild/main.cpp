// Compiles the programs that the library carries, and puts them into an archive:
//   duogemm_prebuild ARCHIVE RUNTIME...
// A runtime is "cuda" or "opencl". For each of them, and each tuning file that speaks of it and names a
// compute capability, the programs that such a device may need. Programs that ARCHIVE has already are not
// compiled again. Needs no device: NVRTC does without.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <fstream>
#include <mutex>
#include <thread>

#include "nvrtc_compile.h"
#include "prebuild/opencl_program.h"
#include "prebuild/program_archive.h"
#include "prebuild/programs_to_ship.h"
#include "system/files.h"

namespace duogemm::cuda {
namespace {

// Of the compiler, all that a program's key leaves out.
std::string compiler_text(const std::vector<ShippedProgram>& wanted) {
  std::string text = "NVRTC " + nvrtc_version();
  if (!wanted.empty()) {
    ProgramSource source = wanted.front().source;
    source.defines.clear();
    text += " " + nvrtc_option_text(source, wanted.front().compute_capability);
  }
  return text + " " + opencl_option_text();
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
