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

#define DUOGEMM_FIND(name) complete = library.find("wgpu" #name, loaded.name) && complete;

bool load(const SharedLibrary& library, api::Functions& loaded) {
  bool complete = true;
  DUOGEMM_FIND(CreateInstance)
  DUOGEMM_FIND(InstanceEnumerateAdapters)
  DUOGEMM_FIND(AdapterGetInfo)
  DUOGEMM_FIND(AdapterInfoFreeMembers)
  DUOGEMM_FIND(AdapterGetLimits)
  DUOGEMM_FIND(AdapterHasFeature)
  DUOGEMM_FIND(AdapterRequestDevice)
  DUOGEMM_FIND(DeviceGetQueue)
  DUOGEMM_FIND(DevicePoll)
  DUOGEMM_FIND(DeviceCreateBuffer)
  DUOGEMM_FIND(DeviceCreateShaderModuleTrusted)
  DUOGEMM_FIND(DeviceCreateBindGroupLayout)
  DUOGEMM_FIND(DeviceCreatePipelineLayout)
  DUOGEMM_FIND(DeviceCreateComputePipeline)
  DUOGEMM_FIND(DeviceCreateBindGroup)
  DUOGEMM_FIND(DeviceCreateQuerySet)
  DUOGEMM_FIND(DeviceCreateCommandEncoder)
  DUOGEMM_FIND(CommandEncoderBeginComputePass)
  DUOGEMM_FIND(CommandEncoderCopyBufferToBuffer)
  DUOGEMM_FIND(CommandEncoderResolveQuerySet)
  DUOGEMM_FIND(CommandEncoderFinish)
  DUOGEMM_FIND(ComputePassEncoderSetPipeline)
  DUOGEMM_FIND(ComputePassEncoderSetBindGroup)
  DUOGEMM_FIND(ComputePassEncoderDispatchWorkgroups)
  DUOGEMM_FIND(ComputePassEncoderEnd)
  DUOGEMM_FIND(QueueSubmit)
  DUOGEMM_FIND(QueueWriteBuffer)
  DUOGEMM_FIND(QueueGetTimestampPeriod)
  DUOGEMM_FIND(BufferMapAsync)
  DUOGEMM_FIND(BufferGetConstMappedRange)
  DUOGEMM_FIND(DeviceRelease)
  DUOGEMM_FIND(QueueRelease)
  DUOGEMM_FIND(BufferRelease)
  DUOGEMM_FIND(ShaderModuleRelease)
  DUOGEMM_FIND(BindGroupRelease)
  DUOGEMM_FIND(BindGroupLayoutRelease)
  DUOGEMM_FIND(PipelineLayoutRelease)
  DUOGEMM_FIND(ComputePipelineRelease)
  DUOGEMM_FIND(QuerySetRelease)
  DUOGEMM_FIND(CommandEncoderRelease)
  DUOGEMM_FIND(ComputePassEncoderRelease)
  DUOGEMM_FIND(CommandBufferRelease)
  return complete;
}

#undef DUOGEMM_FIND

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
