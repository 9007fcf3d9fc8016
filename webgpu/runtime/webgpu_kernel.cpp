#include "runtime/webgpu_kernel.h"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "problem/rounding.h"

namespace duogemm::webgpu {
namespace {

// It is spelled out, because a layout that wgpu-native makes lacks what a kernel does not use.
Owned<api::BindGroupLayout> layout_of(const Shader& shader, Gpu& gpu) {
  std::vector<api::BindGroupLayoutEntry> entries(1 + shader.buffers.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].binding = static_cast<std::uint32_t>(i);
    entries[i].visibility = api::ShaderStage_Compute;
    entries[i].buffer.type = i == 0                          ? api::BufferBindingType::Uniform
                             : shader.buffers[i - 1].written ? api::BufferBindingType::Storage
                                                             : api::BufferBindingType::ReadOnlyStorage;
  }
  const api::BindGroupLayoutDescriptor wanted{nullptr, {}, entries.size(), entries.data()};
  return {wgpu().DeviceCreateBindGroupLayout(gpu.device(), &wanted), wgpu().BindGroupLayoutRelease};
}

// Without bounds checks, which OpenCL and CUDA do not have either: who looks for what is written out of
// bounds finds it, and no time goes into what the other runtimes do not do.
Owned<api::ShaderModule> module_of(const Shader& shader, Gpu& gpu) {
  const api::ShaderSourceWGSL source{{nullptr, api::SType::ShaderSourceWGSL}, view(shader.text)};
  const api::ShaderModuleDescriptor wanted{&source.chain, {}};
  return {wgpu().DeviceCreateShaderModuleTrusted(gpu.device(), &wanted, api::ShaderRuntimeChecks_None),
          wgpu().ShaderModuleRelease};
}

Owned<api::ComputePipeline> pipeline_of(const Shader& shader, api::BindGroupLayout layout, Gpu& gpu) {
  const Owned<api::ShaderModule> module = module_of(shader, gpu);
  gpu.require_no_error(Status::build_failed);
  const api::PipelineLayoutDescriptor with_layout{nullptr, {}, 1, &layout, 0};
  const Owned<api::PipelineLayout> whole(wgpu().DeviceCreatePipelineLayout(gpu.device(), &with_layout),
                                         wgpu().PipelineLayoutRelease);
  const api::ComputePipelineDescriptor wanted{
      nullptr, {}, whole.get(), {nullptr, module.get(), view(shader.name), 0, nullptr}};
  Owned<api::ComputePipeline> pipeline(wgpu().DeviceCreateComputePipeline(gpu.device(), &wanted),
                                       wgpu().ComputePipelineRelease);
  gpu.require_no_error(Status::build_failed);
  return pipeline;
}

std::uint32_t in_32_bits(std::int64_t number) {
  if (number != static_cast<std::int32_t>(number)) {
    throw Error(Status::unsupported,
                "numbers of 64 bits, such as " + std::to_string(number) + "; WebGPU's kernels have 32");
  }
  return static_cast<std::uint32_t>(number);
}

template <typename Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

}  // namespace

WebGpuKernel::WebGpuKernel(Gpu& gpu, Shader shader, std::size_t sub_group_size, bool keeps_text)
    : shader_(std::move(shader)),
      sub_group_size_(sub_group_size),
      layout_(layout_of(shader_, gpu)),
      pipeline_(pipeline_of(shader_, layout(), gpu)) {
  if (!keeps_text) {
    shader_.text.clear();
  }
}

KernelFacts WebGpuKernel::facts(const Extent&) const {
  return {.local_bytes = shader_.local_bytes, .wgsl = shader_.text};
}

std::vector<std::uint32_t> numbers_of(const Shader& shader, std::span<const Argument> arguments) {
  std::vector<std::uint32_t> numbers;
  // A struct's members stand at multiples of their sizes.
  const auto add_members = [&](std::span<const std::byte> bytes) {
    for (std::size_t at = 0; numbers.size() < shader.numbers.size();) {
      const std::size_t size = shader.numbers[numbers.size()].host_bytes;
      at = round_up(at, size);
      if (at + size > bytes.size()) {
        return;
      }
      numbers.push_back(size == sizeof(std::int64_t) ? in_32_bits(number_at<std::int64_t>(bytes, at))
                                                     : number_at<std::uint32_t>(bytes, at));
      at += size;
    }
  };
  for (const Argument& argument : arguments) {
    if (const auto* integer = std::get_if<std::int32_t>(&argument)) {
      numbers.push_back(std::bit_cast<std::uint32_t>(*integer));
    } else if (const auto* real = std::get_if<float>(&argument)) {
      numbers.push_back(std::bit_cast<std::uint32_t>(*real));
    } else if (const auto* bytes = std::get_if<std::span<const std::byte>>(&argument)) {
      add_members(*bytes);
    }
  }
  return numbers;
}

}  // namespace duogemm::webgpu
