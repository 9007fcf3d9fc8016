// duogemm run: starts a program with the drop-in libraries in front of its own BLAS and cuBLAS.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cli/commands.h"
#include "duogemm/error.h"
#include "support/program.h"

namespace duogemm::bench {
namespace {

// As a shell, env(1) and nice(1) have them.
constexpr int cannot_be_started = 126;
constexpr int is_not_there = 127;

void require_path_for_preload(const std::string& path) {
  if (path.find_first_of(": ") != std::string::npos) {
    throw Error(Status::unsupported, "run: " + path +
                                         " cannot be preloaded: the dynamic linker takes no path with a "
                                         "space or a colon");
  }
}

// LD_PRELOAD takes these. Builds without CUDA have no library for cuBLAS.
std::string libraries_to_preload() {
  const std::optional<std::filesystem::path> blas = drop_in_library(drop_in_blas);
  if (!blas) {
    throw Error(Status::unsupported,
                std::string("run: there is no ") + drop_in_blas +
                    " beside this program; build the target duogemm_blas too, or install duogemm");
  }
  require_path_for_preload(blas->string());
  const std::optional<std::filesystem::path> cublas = drop_in_library(drop_in_cublas);
  return blas->string() + (cublas ? ":" + cublas->string() : "");
}

void set_environment() {
  const std::string libraries = libraries_to_preload();
  const char* others = std::getenv("LD_PRELOAD");
  const bool alone = others == nullptr || *others == '\0';
  setenv("LD_PRELOAD", (alone ? libraries : libraries + ":" + others).c_str(), 1);
  // The program has the same number: the libraries tell it from those that the program starts.
  setenv("DUOGEMM_RUN", std::to_string(getpid()).c_str(), 1);
}

// Returns only where the program cannot be started.
int run(const std::vector<std::string>& words) {
  set_environment();
  std::vector<char*> arguments;
  for (const std::string& word : words) {
    arguments.push_back(const_cast<char*>(word.c_str()));
  }
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  const int error = errno;
  std::fprintf(stderr, "duogemm: run: %s: %s\n", words.front().c_str(), std::strerror(error));
  return error == ENOENT ? is_not_there : cannot_be_started;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action, const std::vector<std::string>& given) {
  CLI::App* command = app.add_subcommand(
      "run",
      "Start a program with duogemm's SGEMM in place of its BLAS's and, where the build has CUDA, of "
      "cuBLAS's, as in `duogemm run -- python3 x.py`");
  // Checks and documents them; `given` has them as they are, while CLI11 takes "[1,2]" apart.
  auto checked = std::make_shared<std::vector<std::string>>();
  command
      ->add_option(
          "program", *checked,
          "The program and its arguments, after `--`. Its exit status is that of this command, which is "
          "127 where there is no such program and 126 where it cannot be started")
      ->required();
  std::vector<std::string> words(given.begin() + (!given.empty() && given.front() == "--" ? 1 : 0),
                                 given.end());
  command->callback([&action, checked, words] { action = [words] { return run(words); }; });
}

}  // namespace duogemm::bench
