#include "machine/host_device.h"

#include <cstdlib>

#include "host_queue.h"
#include "problem/rounding.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t alignment = 4096;

[[noreturn]] void refuse_kernels() {
  throw Error(Status::unsupported, "the host's own memory is for libraries: it runs no kernels");
}

class HostBuffer final : public Buffer {
 public:
  HostBuffer(std::shared_ptr<char> data, std::size_t bytes) : data_(std::move(data)), bytes_(bytes) {}
  std::size_t bytes() const override { return bytes_; }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t bytes) const override {
    return std::make_unique<HostBuffer>(std::shared_ptr<char>(data_, data_.get() + offset), bytes);
  }
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(data_.get()); }

 private:
  const std::shared_ptr<char> data_;
  const std::size_t bytes_;
};

class QueueOfLibraries final : public HostQueue {
 public:
  void launch(const Kernel&, const Geometry&, std::span<const Argument>) override { refuse_kernels(); }
};

class HostDevice final : public Device {
 public:
  HostDevice() {
    info_.backend = "host";
    info_.kind = DeviceKind::cpu;
    info_.name = "host";
    info_.slice_alignment = alignment;
  }
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    std::shared_ptr<char> data(static_cast<char*>(std::aligned_alloc(alignment, round_up(bytes, alignment))),
                               std::free);
    if (data == nullptr) {
      throw Error(Status::out_of_memory, "the host has no " + std::to_string(bytes) + " bytes of memory");
    }
    return std::make_unique<HostBuffer>(std::move(data), bytes);
  }
  std::unique_ptr<Queue> create_queue() override { return std::make_unique<QueueOfLibraries>(); }
  std::string build_options(const ProgramSource&) const override { refuse_kernels(); }
  std::shared_ptr<const Kernel> compile(const ProgramSource&) override { refuse_kernels(); }
  std::shared_ptr<const Kernel> load(const std::string&, const std::string&) override { refuse_kernels(); }

 private:
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> open_host() { return std::make_unique<HostDevice>(); }

}  // namespace duogemm::bench
