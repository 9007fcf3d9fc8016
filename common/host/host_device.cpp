#include "host/host_device.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "families/kernel_spec.h"
#include "host/host_queue.h"
#include "host/worker_threads.h"
#include "system/stack.h"

namespace duogemm {
namespace {

// Local memory is on the stack: 245760 bytes of the settings that cmake/DuogemmHostPrograms.cmake lists.
constexpr std::size_t stack_of_program = std::size_t{320} << 10;

[[noreturn]] void refuse(const char* what) {
  throw Error(Status::unsupported, std::string("the calling thread ") + what);
}

class HostPointer final : public Buffer {
 public:
  explicit HostPointer(const void* address) : address_(reinterpret_cast<std::uintptr_t>(address)) {}
  std::size_t bytes() const override { return std::numeric_limits<std::size_t>::max(); }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t) const override {
    return std::make_unique<HostPointer>(reinterpret_cast<const void*>(address_ + offset));
  }
  bool aligned() const override { return address_ % 16 == 0; }
  std::uintptr_t native() const override { return address_; }

 private:
  std::uintptr_t address_;
};

class HostKernel final : public Kernel {
 public:
  explicit HostKernel(HostProgram::Entry* entry) : entry_(entry) {}
  std::size_t sub_group_size(const Extent&) const override { return 1; }
  std::string binary() const override { return {}; }
  HostProgram::Entry* entry() const { return entry_; }

 private:
  HostProgram::Entry* entry_;
};

class CallingThreadQueue final : public HostQueue {
 public:
  explicit CallingThreadQueue(WorkerThreads* workers) : workers_(workers) {}
  void launch(const Kernel& kernel, const Geometry& geometry, std::span<const Argument> arguments) override {
    std::array<const void*, 16> pointers{};
    std::size_t count = 0;
    const void* numbers = nullptr;
    for (const Argument& argument : arguments) {
      if (const Buffer* const* buffer = std::get_if<const Buffer*>(&argument)) {
        pointers.at(count++) =
            *buffer == nullptr ? nullptr : reinterpret_cast<const void*>((*buffer)->native());
      } else {
        numbers = std::get<std::span<const std::byte>>(argument).data();
      }
    }
    HostProgram::Entry& entry = *static_cast<const HostKernel&>(kernel).entry();
    const auto& groups = geometry.groups;
    const std::size_t all = groups[0] * groups[1];
    const auto compute = [&](std::size_t first, std::size_t end) {
      call_with_stack(stack_of_program,
                      [&] { entry(pointers.data(), numbers, groups.data(), first, end); });
    };
    if (workers_ == nullptr) {
      compute(0, all);
    } else {
      workers_->compute(all, [&](std::size_t i) { compute(i, i + 1); });
    }
  }

 private:
  WorkerThreads* workers_;  // null: the calling thread alone
};

// The programs are made for panels that fit into the caches that every processor with AVX2 has.
DeviceInfo info_of_calling_thread(std::size_t vector_floats, std::size_t threads) {
  DeviceInfo info;
  info.backend = "host";
  info.kind = DeviceKind::cpu;
  info.name = "calling thread";
  info.compute_units = threads;
  info.vector_floats = vector_floats;
  info.first_cache_bytes = std::size_t{32} << 10;
  info.core_cache_bytes = std::size_t{256} << 10;
  info.local_bytes = std::size_t{256} << 10;
  info.max_work_group = 1;
  info.max_groups.fill(std::numeric_limits<std::uint32_t>::max());
  info.host_memory = true;
  return info;
}

class CallingThread final : public Device {
 public:
  CallingThread(const HostPrograms& built, std::size_t threads)
      : programs_(built.programs),
        info_(info_of_calling_thread(built.vector_floats, threads)),
        workers_(threads > 1 ? std::make_unique<WorkerThreads>(threads) : nullptr) {}
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t) override { refuse("works on memory that is there"); }
  std::unique_ptr<Buffer> wrap(const void* host) override { return std::make_unique<HostPointer>(host); }
  std::unique_ptr<Queue> create_queue() override {
    return std::make_unique<CallingThreadQueue>(workers_.get());
  }
  std::string build_options(const ProgramSource&) const override { return {}; }
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    refuse(("has no program of " + source.entry + " with these tunables").c_str());
  }
  std::shared_ptr<const Kernel> find_built(const ProgramSource& source) override {
    const std::string name = name_of(source);
    const auto found =
        std::lower_bound(programs_.begin(), programs_.end(), name,
                         [](const HostProgram& a, const std::string& b) { return a.name < b; });
    return found != programs_.end() && found->name == name ? std::make_shared<HostKernel>(found->entry)
                                                           : nullptr;
  }
  std::shared_ptr<const Kernel> load(const std::string&, const std::string&) override {
    refuse("loads no binaries");
  }

 private:
  static std::string name_of(const ProgramSource& source) {
    std::string name = source.entry;
    for (const auto& [tunable, value] : source.defines) {
      name += " " + tunable + "=" + std::to_string(value);
    }
    return name;
  }

  const std::span<const HostProgram> programs_;
  const DeviceInfo info_;
  const std::unique_ptr<WorkerThreads> workers_;
};

}  // namespace

std::unique_ptr<Device> open_calling_thread(const HostPrograms& programs, std::size_t threads) {
  return std::make_unique<CallingThread>(programs, threads);
}

}  // namespace duogemm
