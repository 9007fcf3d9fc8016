// duogemm run: starts a program with the drop-in libraries in front of its own BLAS and cuBLAS.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "duogemm/error.h"
#include "support/program.h"
#include "support/tools.h"

namespace duogemm::bench {
namespace {

// As a shell, env(1) and nice(1) have them.
constexpr int cannot_be_started = 126;
constexpr int is_not_there = 127;

struct RunFlags {
  const Program* program;
  std::vector<std::string>
      words;  // what CLI11 makes of the program and its arguments: it takes "[1,2]" apart
};

// LD_PRELOAD takes these. Builds without CUDA have no library for cuBLAS.
std::string libraries_to_preload() {
  const std::optional<std::filesystem::path> blas = drop_in_library(drop_in_blas);
  if (!blas) {
    throw Error(Status::unsupported,
                std::string("run: there is no ") + drop_in_blas +
                    " beside this program; build the target duogemm_blas too, or install duogemm");
  }
  if (blas->string().find_first_of(": ") != std::string::npos) {
    throw Error(Status::unsupported, "run: " + blas->string() +
                                         " cannot be preloaded: the dynamic linker takes no path with a "
                                         "space or a colon");
  }
  const std::optional<std::filesystem::path> cublas = drop_in_library(drop_in_cublas);
  return blas->string() + (cublas ? ":" + cublas->string() : "");
}

// Returns only where the program cannot be started.
int run(const RunFlags& flags) {
  std::string libraries = libraries_to_preload();
  const char* others = std::getenv("LD_PRELOAD");
  if (others != nullptr && *others != '\0') {
    libraries += std::string(":") + others;
  }
  setenv("LD_PRELOAD", libraries.c_str(), 1);
  // The program has the same number: the libraries tell it from those that the program starts.
  setenv("DUOGEMM_RUN", std::to_string(getpid()).c_str(), 1);
  std::vector<char*> arguments = argument_list(flags.program->given);
  if (flags.program->given.front() == "--") {
    arguments.erase(arguments.begin());
  }
  execvp(arguments.front(), arguments.data());
  const int error = errno;
  std::fprintf(stderr, "duogemm: run: %s: %s\n", arguments.front(), std::strerror(error));
  return error == ENOENT ? is_not_there : cannot_be_started;
}

}  // namespace

void add_run_command(Program& program) {
  auto [command, flags] = add_command<RunFlags>(
      program, "run",
      "Start a program with duogemm's SGEMM in place of its BLAS's and, where the build has CUDA, of "
      "cuBLAS's, as in `duogemm run -- python3 x.py`",
      run);
  flags.program = &program;
  command
      .add_option(
          "program", flags.words,
          "The program and its arguments, after `--`. Its exit status is that of this command, which is "
          "127 where there is no such program and 126 where it cannot be started")
      ->required();
}

}  // namespace duogemm::bench
