#include "runtime/wgpu_library.h"

#include <cstdlib>

#include "system/shared_library.h"
#include "system/tools.h"

namespace duogemm::webgpu {
namespace {

constexpr const char* variable = "DUOGEMM_WGPU";
constexpr const char* source = "`pip install wgpu==0.32` brings it";

// PyPI's package has the library among its own files. To ask Python where takes it a tenth of a second.
std::string file_of_python() {
  const auto python = find_tool("python3");
  const std::string ask =
      "import importlib.util as i; print(i.find_spec('wgpu').submodule_search_locations[0], end='')";
  const ToolResult folder =
      python ? run_tool(*python, {"-c", ask}, ToolErrors::drop) : ToolResult{.status = 1, .out = {}};
  return folder.status == 0 ? folder.out + "/resources/libwgpu_native-release.so" : std::string();
}

SharedLibrary open_library(const std::string& named) {
  if (!named.empty()) {
    return SharedLibrary({named});
  }
  const SharedLibrary found({"libwgpu_native.so", "libwgpu_native-release.so"});
  const std::string of_python = found.is_open() ? "" : file_of_python();
  return of_python.empty() ? found : SharedLibrary({of_python});
}

// Four numbers in the bytes of one.
std::string version_text(std::uint32_t version) {
  std::string text;
  for (const int shift : {24, 16, 8, 0}) {
    text += (text.empty() ? "" : ".") + std::to_string(version >> shift & 0xff);
  }
  return text;
}

bool load(const SharedLibrary& library, api::Functions& loaded) {
  bool complete = true;
#define DUOGEMM_FIND(result, name, parameters) complete = library.find("wgpu" #name, loaded.name) && complete;
  DUOGEMM_WGPU_FUNCTIONS(DUOGEMM_FIND)
#undef DUOGEMM_FIND
  return complete;
}

WgpuLibrary find_library() {
  const char* const value = std::getenv(variable);
  const std::string named = value == nullptr ? "" : value;
  const SharedLibrary library = open_library(named);
  WgpuLibrary found;
  if (!library.is_open()) {
    found.absence = named.empty() ? std::string("wgpu-native is not here: ") + source + ", or " + variable +
                                        " names its file, libwgpu_native.so"
                                  : variable + (" is " + named) + ": " + library.absence();
    return found;
  }
  std::uint32_t (*get_version)() = nullptr;
  const std::uint32_t version = library.find("wgpuGetVersion", get_version) ? get_version() : 0;
  if (version >> 24 != api::major_version || !load(library, found.functions)) {
    found.absence = (named.empty() ? library.folder().string() : variable + (" is " + named)) + ": that is " +
                    (version == 0 ? "not wgpu-native" : "wgpu-native " + version_text(version)) +
                    "; this program needs version " + std::to_string(api::major_version) + "; " + source;
    return found;
  }
  found.version = version_text(version);
  return found;
}

}  // namespace

const WgpuLibrary& wgpu_library() {
  static const WgpuLibrary library = find_library();
  return library;
}

}  // namespace duogemm::webgpu
