#include "support/program.h"

#include <cstdlib>

#include "device/backend.h"
#include "families/kernel_source.h"
#include "system/terminal.h"
#include "system/this_process.h"

namespace duogemm::bench {
namespace {

std::filesystem::path program_folder() { return program_file().parent_path(); }

}  // namespace

const char* const drop_in_blas = DUOGEMM_DROP_IN_BLAS;
const char* const drop_in_cublas = DUOGEMM_DROP_IN_CUBLAS;

std::string build_switches() {
  constexpr std::size_t all = 3;  // cpu is in every build
  std::string text =
      "BACKEND=" + (backends().size() == all ? "all" : std::string(backends().front()->name()));
  for (const auto& [name, value] : build_tunables()) {
    text += ", " + std::string(name) + (value != 0 ? "=ON" : "=OFF");
  }
  return text;
}

bool terminal_has_colours() {
  const auto value = [](const char* name) {
    const char* const found = std::getenv(name);
    return std::string(found == nullptr ? "" : found);
  };
  return is_terminal(stdout) && value("NO_COLOR").empty() && value("TERM") != "dumb";
}

std::filesystem::path folder_of_program(const std::string& name) {
  const std::filesystem::path beside = program_folder() / name;
  return std::filesystem::exists(beside) ? beside : program_folder() / DUOGEMM_SHARE_FROM_PROGRAM / name;
}

std::optional<std::filesystem::path> drop_in_library(const char* name) {
  for (const char* folder : {"blas", DUOGEMM_LIBRARIES_FROM_PROGRAM}) {
    const std::filesystem::path file = (program_folder() / folder / name).lexically_normal();
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown)) {
      return file;
    }
  }
  return std::nullopt;
}

}  // namespace duogemm::bench
