#include "runtime/webgpu_queue.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "problem/rounding.h"

namespace duogemm::webgpu {
namespace {

constexpr std::size_t vector_bytes = 16;
constexpr api::Flags matrix_usage =
    api::BufferUsage_Storage | api::BufferUsage_CopySrc | api::BufferUsage_CopyDst;

std::size_t whole_vectors(std::size_t bytes) { return round_up(std::max(bytes, vector_bytes), vector_bytes); }

const WebGpuBuffer& own(const Buffer& buffer) { return static_cast<const WebGpuBuffer&>(buffer); }

}  // namespace

WebGpuBuffer::WebGpuBuffer(Gpu& gpu, std::size_t bytes)
    : memory_(std::make_shared<Owned<api::Buffer>>(gpu.create_buffer(whole_vectors(bytes), matrix_usage))),
      bytes_(bytes) {}

std::unique_ptr<Buffer> WebGpuBuffer::slice(std::size_t offset, std::size_t bytes) const {
  return std::unique_ptr<Buffer>(new WebGpuBuffer(memory_, offset_ + offset, bytes));
}

std::size_t WebGpuBuffer::bound_bytes() const { return whole_vectors(bytes_); }

WebGpuQueue::WebGpuQueue(Gpu& gpu)
    : gpu_(gpu),
      encoder_(nullptr, wgpu().CommandEncoderRelease),
      times_(nullptr, wgpu().QuerySetRelease),
      nothing_(gpu, vector_bytes) {
  if (gpu.has(api::FeatureName::TimestampQuery)) {
    const api::QuerySetDescriptor wanted{nullptr, {}, api::QueryType::Timestamp, 2};
    times_.reset(wgpu().DeviceCreateQuerySet(gpu.device(), &wanted));
  }
}

void WebGpuQueue::start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
  submit();
  wgpu().QueueWriteBuffer(gpu_.queue(), own(to).handle(), own(to).offset() + offset, from, bytes);
  gpu_.require_no_error();
}

// In pieces, as the copies that the host can read are in its memory.
void WebGpuQueue::start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) {
  constexpr std::size_t piece = std::size_t{64} << 20;
  for (std::size_t at = 0; at < bytes; at += piece) {
    copy_out(own(from).handle(), own(from).offset() + offset + at, static_cast<std::byte*>(to) + at,
             std::min(piece, bytes - at));
  }
}

void WebGpuQueue::launch(const Kernel& kernel, const Geometry& geometry,
                         std::span<const Argument> arguments) {
  const auto& program = static_cast<const WebGpuKernel&>(kernel);
  std::vector<std::uint32_t> numbers = numbers_of(program.shader(), arguments);
  numbers.resize(whole_vectors(numbers.size() * sizeof(std::uint32_t)) / sizeof(std::uint32_t));
  const std::size_t bytes = numbers.size() * sizeof(std::uint32_t);
  const Owned<api::Buffer> uniform =
      gpu_.create_buffer(bytes, api::BufferUsage_Uniform | api::BufferUsage_CopyDst);
  wgpu().QueueWriteBuffer(gpu_.queue(), uniform.get(), 0, numbers.data(), bytes);
  std::vector<api::BindGroupEntry> entries = {{nullptr, 0, uniform.get(), 0, bytes, nullptr, nullptr}};
  for (const Argument& argument : arguments) {
    if (const auto* buffer = std::get_if<const Buffer*>(&argument)) {
      entries.push_back(bind(*buffer));
      entries.back().binding = static_cast<std::uint32_t>(entries.size() - 1);
    }
  }
  const std::vector<Owned<api::Buffer>> copies = set_apart(entries, program.shader());
  const api::BindGroupDescriptor wanted{nullptr, {}, program.layout(), entries.size(), entries.data()};
  const Owned<api::BindGroup> group(wgpu().DeviceCreateBindGroup(gpu_.device(), &wanted),
                                    wgpu().BindGroupRelease);
  gpu_.require_no_error();
  const Owned<api::ComputePassEncoder> pass(wgpu().CommandEncoderBeginComputePass(encoder(), nullptr),
                                            wgpu().ComputePassEncoderRelease);
  wgpu().ComputePassEncoderSetPipeline(pass.get(), program.pipeline());
  wgpu().ComputePassEncoderSetBindGroup(pass.get(), 0, group.get(), 0, nullptr);
  const auto [x, y, z] = geometry.groups;
  wgpu().ComputePassEncoderDispatchWorkgroups(pass.get(), static_cast<std::uint32_t>(x),
                                              static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z));
  wgpu().ComputePassEncoderEnd(pass.get());
}

void WebGpuQueue::finish() {
  submit();
  gpu_.wait();
}

double WebGpuQueue::timed(const std::function<void()>& enqueue) {
  finish();
  if (!times_) {
    enqueue();
    const auto start = std::chrono::steady_clock::now();
    finish();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  note_time(0);
  enqueue();
  note_time(1);
  std::array<std::uint64_t, 2> ticks{};
  const Owned<api::Buffer> resolved =
      gpu_.create_buffer(sizeof ticks, api::BufferUsage_QueryResolve | api::BufferUsage_CopySrc);
  wgpu().CommandEncoderResolveQuerySet(encoder(), times_.get(), 0, 2, resolved.get(), 0);
  copy_out(resolved.get(), 0, ticks.data(), sizeof ticks);
  constexpr double nanosecond = 1e-9;
  return nanosecond * static_cast<double>(wgpu().QueueGetTimestampPeriod(gpu_.queue())) *
         static_cast<double>(ticks[1] - ticks[0]);
}

api::CommandEncoder WebGpuQueue::encoder() {
  if (!encoder_) {
    encoder_.reset(wgpu().DeviceCreateCommandEncoder(gpu_.device(), nullptr));
  }
  return encoder_.get();
}

// Also without commands: what was written to buffers begins its way then.
void WebGpuQueue::submit() {
  const Owned<api::CommandEncoder> last(encoder_.release(), wgpu().CommandEncoderRelease);
  const Owned<api::CommandBuffer> commands(last ? wgpu().CommandEncoderFinish(last.get(), nullptr) : nullptr,
                                           wgpu().CommandBufferRelease);
  gpu_.require_no_error();
  const api::CommandBuffer handle = commands.get();
  wgpu().QueueSubmit(gpu_.queue(), handle == nullptr ? 0 : 1, &handle);
  gpu_.require_no_error();
}

// By a pass that does nothing else: it begins when all before is done.
void WebGpuQueue::note_time(std::uint32_t which) {
  const api::PassTimestampWrites at{nullptr, times_.get(), which == 0 ? which : api::no_query,
                                    which == 1 ? which : api::no_query};
  const api::ComputePassDescriptor wanted{nullptr, {}, &at};
  const Owned<api::ComputePassEncoder> pass(wgpu().CommandEncoderBeginComputePass(encoder(), &wanted),
                                            wgpu().ComputePassEncoderRelease);
  wgpu().ComputePassEncoderEnd(pass.get());
}

void WebGpuQueue::copy_out(api::Buffer from, std::size_t offset, void* to, std::size_t bytes) {
  const Owned<api::Buffer> copy =
      gpu_.create_buffer(bytes, api::BufferUsage_MapRead | api::BufferUsage_CopyDst);
  wgpu().CommandEncoderCopyBufferToBuffer(encoder(), from, offset, copy.get(), 0, bytes);
  submit();
  bool is_mapped = false;
  const auto note = [](api::MapAsyncStatus status, api::StringView, void* mapped, void*) {
    *static_cast<bool*>(mapped) = status == api::MapAsyncStatus::Success;
  };
  wgpu().BufferMapAsync(copy.get(), api::MapMode_Read, 0, bytes,
                        {nullptr, api::CallbackMode::AllowSpontaneous, note, &is_mapped, nullptr});
  gpu_.wait();
  if (!is_mapped) {
    throw Error(Status::device_error, "wgpu-native does not let the host read a buffer");
  }
  std::memcpy(to, wgpu().BufferGetConstMappedRange(copy.get(), 0, bytes), bytes);
}

api::BindGroupEntry WebGpuQueue::bind(const Buffer* buffer) const {
  const WebGpuBuffer& bound = buffer == nullptr ? nothing_ : own(*buffer);
  const std::size_t bytes = bound.bound_bytes();
  if (bytes > gpu_.limits().maxStorageBufferBindingSize) {
    throw Error(Status::unsupported,
                "a matrix of " + std::to_string(bytes) + " bytes; WebGPU's kernels reach " +
                    std::to_string(gpu_.limits().maxStorageBufferBindingSize) + " of a buffer here");
  }
  return {nullptr, 0, bound.handle(), bound.offset(), bytes, nullptr, nullptr};
}

// WebGPU has no launch that reads a buffer by one binding and writes it by another: it reads a copy.
std::vector<Owned<api::Buffer>> WebGpuQueue::set_apart(std::vector<api::BindGroupEntry>& entries,
                                                       const Shader& shader) {
  std::vector<Owned<api::Buffer>> copies;
  const auto is_written = [&](const api::BindGroupEntry& entry) {
    return entry.binding > 0 && shader.buffers[entry.binding - 1].written;
  };
  for (api::BindGroupEntry& entry : entries) {
    const bool is_apart = std::ranges::none_of(entries, [&](const api::BindGroupEntry& other) {
      return &other != &entry && other.buffer == entry.buffer && is_written(other);
    });
    if (is_apart || is_written(entry)) {
      continue;
    }
    copies.push_back(gpu_.create_buffer(entry.size, matrix_usage));
    wgpu().CommandEncoderCopyBufferToBuffer(encoder(), entry.buffer, entry.offset, copies.back().get(), 0,
                                            entry.size);
    entry.buffer = copies.back().get();
    entry.offset = 0;
  }
  return copies;
}

}  // namespace duogemm::webgpu
