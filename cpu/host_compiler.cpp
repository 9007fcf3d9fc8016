#include "host_compiler.h"

#include <chrono>
#include <optional>

#include "system/files.h"
#include "system/shared_library.h"
#include "system/temporary_directory.h"
#include "system/tools.h"

namespace duogemm {
namespace {

constexpr const char* entry_name = "duogemm_entry";

constexpr int not_started = 127;

std::optional<std::filesystem::path> find_compiler() {
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (auto found = find_tool(name)) {
      return found;
    }
  }
  return std::nullopt;
}

// Another compiler, or a newer one, has another size or date.
std::string identity(const std::filesystem::path& compiler) {
  std::error_code unknown;
  const std::filesystem::path file = std::filesystem::canonical(compiler, unknown);
  const auto written = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::filesystem::last_write_time(file, unknown).time_since_epoch());
  return file.string() + " " + std::to_string(std::filesystem::file_size(file, unknown)) + " " +
         std::to_string(written.count()) + " ";
}

// As program.cpp.in makes of the kernels that are compiled with the library. All is one function, for those
// who read its instructions.
std::string translation_unit(const ProgramSource& source) {
  return source.text + "\nextern \"C\" __attribute__((flatten)) void " + entry_name +
         "(const void* const* arguments, const std::size_t* groups, std::size_t first, std::size_t end) {\n"
         "  compute_groups(" +
         source.entry + ", work_items, arguments, groups, first, end);\n}\n";
}

std::vector<std::string> host_compiler_options(const ProgramSource& source, const CpuPrograms& programs) {
  // Only an explicit fma is fused, as by every other compiler of kernels.
  std::vector<std::string> options = {"-std=c++20",           "-shared", "-fPIC", "-O3", "-ffp-contract=off",
                                      "-fno-strict-aliasing", "-w"};
  options.insert(options.end(), programs.options.begin(), programs.options.end());
  for (const auto& [name, value] : source.defines) {
    options.push_back("-D" + name + "=" + std::to_string(value));
  }
  return options;
}

}  // namespace

std::string host_compiler_text(const ProgramSource& source, const CpuPrograms& programs) {
  const auto compiler = find_compiler();
  std::string text = compiler ? identity(*compiler) : "";
  for (const std::string& option : host_compiler_options(source, programs)) {
    text += option + " ";
  }
  return text;
}

std::string compile_for_host(const ProgramSource& source, const CpuPrograms& programs) {
  const auto compiler = find_compiler();
  if (!compiler) {
    throw Error(Status::unsupported, "a C++ compiler on PATH, such as g++");
  }
  const TemporaryDirectory folder;
  const std::filesystem::path text = folder.path() / "kernel.cpp", library = folder.path() / "kernel.so";
  write_file(text, translation_unit(source));
  std::vector<std::string> arguments = host_compiler_options(source, programs);
  arguments.insert(arguments.end(), {text.string(), "-o", library.string()});
  const ToolResult result = run_tool(*compiler, arguments, ToolErrors::keep);
  if (result.status == not_started) {
    throw Error(Status::unsupported, "a C++ compiler that starts; " + compiler->string() + " does not");
  }
  const std::optional<std::string> made = result.status == 0 ? read_file(library) : std::nullopt;
  if (!made) {
    const std::string said = result.out.empty() ? "status " + std::to_string(result.status) : result.out;
    throw Error(Status::build_failed, compiler->string() + ": " + source.entry + ": " + said);
  }
  return *made;
}

std::shared_ptr<CpuEntry> load_for_host(const std::string& library) {
  const TemporaryDirectory folder;  // the system needs the file's name only to load it
  const std::filesystem::path file = folder.path() / "kernel.so";
  write_file(file, library);
  std::string absence;
  const std::shared_ptr<void> entry = load_symbol(file, entry_name, absence);
  if (!entry) {
    throw Error(Status::build_failed, "the system does not load the program: " + absence);
  }
  return {entry, reinterpret_cast<CpuEntry*>(entry.get())};
}

}  // namespace duogemm
