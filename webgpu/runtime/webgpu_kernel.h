// A kernel as a shader that is ready to run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/backend.h"
#include "runtime/gpu.h"
#include "shader/translate.h"

namespace duogemm::webgpu {

class WebGpuKernel final : public Kernel {
 public:
  // keeps_text: for facts(). Throws build_failed.
  WebGpuKernel(Gpu& gpu, Shader shader, std::size_t sub_group_size, bool keeps_text);

  std::size_t sub_group_size(const Extent&) const override { return sub_group_size_; }
  std::string binary() const override { return {}; }
  KernelFacts facts(const Extent& local) const override;

  const Shader& shader() const { return shader_; }
  api::BindGroupLayout layout() const { return layout_.get(); }
  api::ComputePipeline pipeline() const { return pipeline_.get(); }

 private:
  Shader shader_;
  const std::size_t sub_group_size_;
  Owned<api::BindGroupLayout> layout_;
  Owned<api::ComputePipeline> pipeline_;
};

// The content of binding 0 for a launch with these arguments. Throws unsupported where a number of 64 bits
// has more than WGSL's 32.
std::vector<std::uint32_t> numbers_of(const Shader& shader, std::span<const Argument> arguments);

}  // namespace duogemm::webgpu
