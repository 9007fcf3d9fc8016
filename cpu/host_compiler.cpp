#include "host_compiler.h"

#include <dlfcn.h>

#include <optional>

#include "system/files.h"
#include "system/temporary_directory.h"
#include "system/tools.h"

namespace duogemm {
namespace {

constexpr const char* entry_name = "duogemm_entry";

std::filesystem::path require_compiler() {
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (const auto found = find_tool(name)) {
      return *found;
    }
  }
  throw Error(Status::unsupported, "a C++ compiler on PATH, such as g++");
}

// As program.cpp.in makes of the kernels that are compiled with the library. All is one function, for those
// who read its instructions.
std::string translation_unit(const ProgramSource& source) {
  return source.text + "\nextern \"C\" __attribute__((flatten)) void " + entry_name +
         "(const void* const* arguments, const std::size_t* groups, std::size_t first, std::size_t end) {\n"
         "  compute_groups(" +
         source.entry + ", work_items, arguments, groups, first, end);\n}\n";
}

}  // namespace

std::vector<std::string> host_compiler_options(const ProgramSource& source, const CpuPrograms& programs) {
  std::vector<std::string> options = {"-std=c++20", "-shared", "-fPIC", "-O3", "-fno-strict-aliasing", "-w"};
  options.insert(options.end(), programs.options.begin(), programs.options.end());
  for (const auto& [name, value] : source.defines) {
    options.push_back("-D" + name + "=" + std::to_string(value));
  }
  return options;
}

std::string compile_for_host(const ProgramSource& source, const CpuPrograms& programs) {
  const std::filesystem::path compiler = require_compiler();
  const TemporaryDirectory folder;
  const std::filesystem::path text = folder.path() / "kernel.cpp", library = folder.path() / "kernel.so";
  write_file(text, translation_unit(source));
  std::vector<std::string> arguments = host_compiler_options(source, programs);
  arguments.insert(arguments.end(), {text, "-o", library});
  const ToolResult result = run_tool(compiler, arguments, ToolErrors::keep);
  const std::optional<std::string> made = result.status == 0 ? read_file(library) : std::nullopt;
  if (!made) {
    throw Error(Status::build_failed, compiler.string() + ": " + source.entry + ": " + result.out);
  }
  return *made;
}

std::shared_ptr<CpuEntry> load_for_host(const std::string& library) {
  const TemporaryDirectory folder;  // the system needs the file's name only to load it
  const std::filesystem::path file = folder.path() / "kernel.so";
  write_file(file, library);
  void* const loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const entry = loaded == nullptr ? nullptr : dlsym(loaded, entry_name);
  if (entry == nullptr) {
    throw Error(Status::build_failed, std::string("the system does not load the program: ") + dlerror());
  }
  return {reinterpret_cast<CpuEntry*>(entry), [loaded](CpuEntry*) { dlclose(loaded); }};
}

}  // namespace duogemm
