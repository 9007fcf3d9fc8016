// What AMD's GPUs would run of the library, where nothing was measured of them, fits their registers. It is
// compiled by clang with the OpenCL library of LLVM, whose devices are nobody's here.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "devices.h"
#include "files.h"
#include "plan/select.h"
#include "system/temporary_directory.h"
#include "system/tools.h"

namespace duogemm::bench {
namespace {

constexpr const char* compiler = "clang-19";
constexpr const char* opencl_library = "/usr/lib/clc/amdgcn--amdhsa.bc";

// An AMD GPU as far as a plan depends on it.
DeviceInfo amd() {
  DeviceInfo info = testing::large_gpu();
  info.backend = "opencl";
  info.name = "gfx1030";
  info.local_bytes = info.dynamic_local_bytes = 32 * 1024;
  info.max_work_group = 256;
  return info;
}

std::string assembly_of(const Variant& kernel, const std::string& architecture) {
  const TemporaryDirectory folder;
  std::string text;
  for (const auto& [name, value] : kernel.tunables) {
    text += "#define " + name + " " + std::to_string(value) + "\n";
  }
  const std::string root = DUOGEMM_SOURCE;
  const std::filesystem::path source = folder.path() / "kernel.cl";
  const std::filesystem::path out = folder.path() / "kernel.s";
  testing::overwrite(source, text + "#include \"" + kernel.spec->path + "\"\n");
  const ToolResult result = run_tool(*find_tool(compiler),
                                     {"-x",
                                      "cl",
                                      "-cl-std=CL1.2",
                                      "-Xclang",
                                      "-finclude-default-header",
                                      "--target=amdgcn-amd-amdhsa",
                                      "-mcpu=" + architecture,
                                      "-nogpulib",
                                      "-Xclang",
                                      "-mlink-builtin-bitcode",
                                      "-Xclang",
                                      opencl_library,
                                      "-I",
                                      root + "/compat",
                                      "-I",
                                      root + "/kernels",
                                      "-include",
                                      "opencl.h",
                                      "-O3",
                                      "-w",
                                      "-S",
                                      "-o",
                                      out,
                                      source},
                                     ToolErrors::show);
  return result.status == 0 ? testing::contents_of(out) : "";
}

// The number after the last `name` in the assembly.
int number_after(const std::string& assembly, const std::string& name) {
  const std::size_t at = assembly.rfind(name);
  EXPECT_NE(at, std::string::npos) << name;
  return at == std::string::npos ? -1 : std::stoi(assembly.substr(at + name.size()));
}

// One of each tile and way of reading, with rows of A side by side and with columns.
std::vector<const Variant*> some_of_each_tile(const DeviceInfo& device) {
  std::vector<const Variant*> some = Planner(device).kernels();
  std::erase_if(some, [](const Variant* each) {
    return value_or(each->tunables, "TRANS_A", 0) == value_or(each->tunables, "TRANS_B", 1) ||
           value_or(each->tunables, "LONG_OFFSETS", 0) == 1;
  });
  return some;
}

TEST(Amdgcn, HasRegistersForWhatIsChosenUnmeasured) {
  if (!std::filesystem::exists(opencl_library) || !find_tool(compiler)) {
    GTEST_SKIP() << "needs Debian's packages clang-19 and libclc-19";
  }
  const std::vector<const Variant*> kernels = some_of_each_tile(amd());
  ASSERT_GE(kernels.size(), 20u);
  for (const std::string architecture : {"gfx906", "gfx1030", "gfx1100", "gfx1201"}) {
    std::vector<std::string> assemblies(kernels.size());
    std::atomic<std::size_t> next = 0;
    {
      std::vector<std::jthread> compilers;
      for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1u); ++i) {
        compilers.emplace_back([&] {
          for (std::size_t at = next++; at < kernels.size(); at = next++) {
            assemblies[at] = assembly_of(*kernels[at], architecture);
          }
        });
      }
    }
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const std::string what =
          architecture + " " + kernels[i]->spec->name + " " + to_text(kernels[i]->tunables);
      EXPECT_EQ(number_after(assemblies[i], ".vgpr_spill_count:"), 0) << what;
      EXPECT_LE(number_after(assemblies[i], "; ScratchSize:"), 160) << what << ": arrays outside of loops";
      EXPECT_LE(number_after(assemblies[i], ".group_segment_fixed_size:"), 32 * 1024) << what;
    }
  }
}

}  // namespace
}  // namespace duogemm::bench
