// Buffers, and the queue that works on them.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "device/backend.h"
#include "runtime/gpu.h"
#include "runtime/webgpu_kernel.h"

namespace duogemm::webgpu {

// Memory, or a part of it. Bindings hold whole vectors of four floats, so memory does, too.
class WebGpuBuffer final : public Buffer {
 public:
  WebGpuBuffer(Gpu& gpu, std::size_t bytes);

  std::size_t bytes() const override { return bytes_; }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t bytes) const override;
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(memory_->get()); }

  api::Buffer handle() const { return memory_->get(); }
  std::size_t offset() const { return offset_; }
  // The bytes of a binding.
  std::size_t bound_bytes() const;

 private:
  WebGpuBuffer(std::shared_ptr<Owned<api::Buffer>> memory, std::size_t offset, std::size_t bytes)
      : memory_(std::move(memory)), offset_(offset), bytes_(bytes) {}

  const std::shared_ptr<Owned<api::Buffer>> memory_;
  const std::size_t offset_ = 0;
  const std::size_t bytes_;
};

// Commands are collected, and submitted when somebody waits for them or writes what they may read.
class WebGpuQueue final : public Queue {
 public:
  explicit WebGpuQueue(Gpu& gpu);

  void start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override;
  void start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override;
  void launch(const Kernel& kernel, const Geometry& geometry, std::span<const Argument> arguments) override;
  void barrier(bool) override {}  // each launch waits for those before
  void finish() override;
  // By the device's clock, or the host's where the device has none for commands.
  double timed(const std::function<void()>& enqueue) override;
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(gpu_.queue()); }
  QueueState state() const override { return {native()}; }
  void with_device(const std::function<void()>& work) override { work(); }

 private:
  api::CommandEncoder encoder();
  void submit();
  void note_time(std::uint32_t which);
  void copy_out(api::Buffer from, std::size_t offset, void* to, std::size_t bytes);
  api::BindGroupEntry bind(const Buffer* buffer) const;
  std::vector<Owned<api::Buffer>> set_apart(std::vector<api::BindGroupEntry>& entries, const Shader& shader);

  Gpu& gpu_;
  Owned<api::CommandEncoder> encoder_;
  Owned<api::QuerySet> times_;  // null where the device has none
  const WebGpuBuffer nothing_;  // for what a kernel does not read
};

}  // namespace duogemm::webgpu
