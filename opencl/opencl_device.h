// One OpenCL device with its context: buffers, queues and programs.
#pragma once

#include <mutex>
#include <span>

#include "device/backend.h"
#include "opencl_api.h"

namespace duogemm::opencl {

// Finds the OpenCL devices of every platform, in the order of the ICD loader's. Empty when there is no
// platform.
std::vector<cl::Device> find_devices();

DeviceInfo describe(const cl::Device& device, std::size_t index);

// A kernel's pointer can be bound to this.
class ClMemory : public Buffer {
 public:
  virtual void bind(cl_kernel kernel, cl_uint index) const = 0;
};

class ClSlices;

// A buffer of ours, or of a caller's who keeps it as long as this lives: to retain and to release that, and
// to ask what is known already, are calls of the driver.
class ClBuffer final : public ClMemory {
 public:
  explicit ClBuffer(const cl::Buffer& ours);
  ClBuffer(cl_mem callers, std::size_t bytes) : buffer_(callers), bytes_(bytes) {}
  std::size_t bytes() const override { return bytes_; }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t bytes) const override;
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(buffer_); }
  void bind(cl_kernel kernel, cl_uint index) const override;

 private:
  cl_mem buffer_;
  std::size_t bytes_;
  std::shared_ptr<ClSlices> slices_;  // of ours, which they keep; null for a caller's
};

class ClQueue final : public Queue {
 public:
  // All that is launched starts after `events`, which must outlive this.
  explicit ClQueue(cl::CommandQueue queue, std::span<const cl_event> events = {})
      : queue_(std::move(queue)), events_(events) {}
  // Lets what is enqueued from here on wait for the events. The first launch or barrier does so by itself.
  void wait_for_events();
  void start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override;
  void start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override;
  void launch(const Kernel& kernel, const Geometry& geometry, std::span<const Argument> arguments) override;
  void barrier(bool awaits) override;
  void finish() override;
  double timed(const std::function<void()>& enqueue) override;
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(queue_()); }
  // A queue is deleted when its commands are done, and leaves its handle to another no earlier.
  QueueState state() const override { return {native()}; }
  void with_device(const std::function<void()>& work) override { work(); }

 private:
  cl::CommandQueue queue_;
  std::span<const cl_event> events_;  // for which the queue does not wait yet
  cl::Event first_;                   // launch within timed()
  bool timing_ = false;
};

std::unique_ptr<Device> open_device(const cl::Device& device, const DeviceInfo& info,
                                    const cl::Context& context, bool explain = false);

}  // namespace duogemm::opencl
