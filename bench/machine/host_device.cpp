#include "machine/host_device.h"

#include <new>

#include "host_queue.h"

namespace duogemm::bench {
namespace {

constexpr std::size_t alignment = 4096;

[[noreturn]] void refuse_kernels() {
  throw Error(Status::unsupported, "the host's own memory is for libraries: it runs no kernels");
}

class HostBuffer final : public Buffer {
 public:
  HostBuffer(char* data, std::size_t bytes, bool owned) : data_(data), bytes_(bytes), owned_(owned) {}
  ~HostBuffer() override {
    if (owned_) {
      ::operator delete (data_, std::align_val_t{alignment});
    }
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  std::size_t bytes() const override { return bytes_; }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t bytes) const override {
    return std::make_unique<HostBuffer>(data_ + offset, bytes, false);
  }
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(data_); }

 private:
  char* data_;
  std::size_t bytes_;
  bool owned_;
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
    void* data = ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
    if (data == nullptr) {
      throw Error(Status::out_of_memory, "the host has no " + std::to_string(bytes) + " bytes of memory");
    }
    return std::make_unique<HostBuffer>(static_cast<char*>(data), bytes, true);
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
