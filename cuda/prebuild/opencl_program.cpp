#include "prebuild/opencl_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>
#include <regex>
#include <vector>

#include "nvrtc_compile.h"
#include "system/files.h"
#include "system/temporary_directory.h"

extern char** environ;

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

// Throws build_failed unless the process ends with 0; what it says goes to the file.
void run(std::vector<std::string> words, const std::filesystem::path& log) {
  std::vector<char*> arguments;
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t process = 0;
  int status = posix_spawn(&process, arguments.front(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (status == 0) {
    waitpid(process, &status, 0);
  }
  if (status != 0) {
    throw Error(Status::build_failed, words.front() + ": " + read_file(log).value_or(""));
  }
}

std::string assembled(const std::string& ptx, int compute_capability) {
  const TemporaryDirectory directory;
  const std::filesystem::path source = directory.path() / "program.ptx";
  const std::filesystem::path cubin = directory.path() / "program.cubin";
  std::ofstream(source) << ptx;
  run({DUOGEMM_PTXAS, "-arch=sm_" + std::to_string(compute_capability), source, "-o", cubin},
      directory.path() / "log");
  return read_file(cubin).value_or("");
}

}  // namespace

std::string opencl_option_text() { return std::string(global_pointer) + texture_mode; }

std::string opencl_cubin(const ProgramSource& source, int compute_capability) {
  return assembled(with_words_of_opencl(ptx_for_opencl(source, compute_capability)), compute_capability);
}

}  // namespace duogemm::cuda
