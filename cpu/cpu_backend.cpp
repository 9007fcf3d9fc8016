#include "cpu_backend.h"

#include <algorithm>
#include <array>
#include <limits>

#include "cpu_programs.h"
#include "families/kernel_spec.h"
#include "host_queue.h"
#include "system/stack.h"
#include "worker_threads.h"

namespace duogemm {
namespace {

// Local memory is on the stack: 245760 bytes of the settings that cpu/programs.cmake lists.
constexpr std::size_t stack_of_program = std::size_t{320} << 10;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Status::unsupported, "the calling thread " + what);
}

class CpuMemory final : public Buffer {
 public:
  explicit CpuMemory(const void* address) : address_(reinterpret_cast<std::uintptr_t>(address)) {}
  std::size_t bytes() const override { return std::numeric_limits<std::size_t>::max(); }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t) const override {
    return std::make_unique<CpuMemory>(reinterpret_cast<const void*>(address_ + offset));
  }
  bool aligned() const override { return address_ % 16 == 0; }
  std::uintptr_t native() const override { return address_; }

 private:
  std::uintptr_t address_;
};

class CpuKernel final : public Kernel {
 public:
  explicit CpuKernel(CpuProgram::Entry* entry) : entry_(entry) {}
  std::size_t sub_group_size(const Extent&) const override { return 1; }
  std::string binary() const override { return {}; }
  CpuProgram::Entry* entry() const { return entry_; }

 private:
  CpuProgram::Entry* entry_;
};

class CpuQueue final : public HostQueue {
 public:
  explicit CpuQueue(WorkerThreads* workers) : workers_(workers) {}
  void launch(const Kernel& kernel, const Geometry& geometry, std::span<const Argument> arguments) override {
    std::array<const void*, 16> pointers{};
    std::size_t count = 0;
    const void* numbers = nullptr;
    for (const Argument& argument : arguments) {
      if (const Buffer* const* buffer = std::get_if<const Buffer*>(&argument)) {
        pointers.at(count++) =
            *buffer == nullptr ? nullptr : reinterpret_cast<const void*>((*buffer)->native());
      } else if (const auto* bytes = std::get_if<std::span<const std::byte>>(&argument)) {
        numbers = bytes->data();
      } else {
        refuse("takes a struct and buffers only");
      }
    }
    CpuProgram::Entry& entry = *static_cast<const CpuKernel&>(kernel).entry();
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
DeviceInfo describe(std::size_t index, std::size_t threads) {
  DeviceInfo info;
  info.backend = "cpu";
  info.index = index;
  info.kind = DeviceKind::cpu;
  info.name = "calling thread";
  info.compute_units = threads;
  info.vector_floats = cpu_programs()[index].vector_floats;
  info.first_cache_bytes = std::size_t{32} << 10;
  info.core_cache_bytes = std::size_t{256} << 10;
  info.local_bytes = std::size_t{256} << 10;
  info.max_work_group = 1;
  info.max_groups.fill(std::numeric_limits<std::uint32_t>::max());
  info.host_memory = true;
  info.seconds_to_start = threads > 1 ? 5e-6 : 0.0;  // measured on two AVX-512 cores (Zen 4 and 5)
  return info;
}

class CpuDevice final : public Device {
 public:
  CpuDevice(std::size_t index, std::size_t threads)
      : programs_(cpu_programs()[index].programs),
        info_(describe(index, threads)),
        workers_(threads > 1 ? std::make_unique<WorkerThreads>(threads) : nullptr) {}
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t) override { refuse("works on memory that is there"); }
  std::unique_ptr<Buffer> wrap(const void* host) override { return std::make_unique<CpuMemory>(host); }
  std::unique_ptr<Queue> create_queue() override { return std::make_unique<CpuQueue>(workers_.get()); }
  std::string build_options(const ProgramSource&) const override { return {}; }
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    refuse("has no program of " + source.entry + " with these tunables");
  }
  std::shared_ptr<const Kernel> find_built(const ProgramSource& source) override {
    std::string name = source.entry;
    for (const auto& [tunable, value] : source.defines) {
      name += " " + tunable + "=" + std::to_string(value);
    }
    const auto found = std::ranges::lower_bound(programs_, name, {}, &CpuProgram::name);
    return source.embedded && found != programs_.end() && found->name == name
               ? std::make_shared<CpuKernel>(found->entry)
               : nullptr;
  }
  std::shared_ptr<const Kernel> load(const std::string&, const std::string&) override {
    refuse("loads no binaries");
  }

 private:
  const std::span<const CpuProgram> programs_;
  const DeviceInfo info_;
  const std::unique_ptr<WorkerThreads> workers_;
};

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::vector<DeviceInfo> devices() const override {
    std::vector<DeviceInfo> infos;
    while (infos.size() < cpu_programs().size()) {
      infos.push_back(describe(infos.size(), 1));
    }
    return infos;
  }
  std::unique_ptr<Device> open(std::size_t index, const DeviceOptions& options) const override {
    return std::make_unique<CpuDevice>(index, options.threads);
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

}  // namespace duogemm
