#include "cpu_backend.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>

#include "families/kernel_spec.h"
#include "host_compiler.h"
#include "system/cores.h"
#include "system/stack.h"
#include "worker_threads.h"

namespace duogemm {
namespace {

// What a program with local memory has on the stack: that memory, registers and calls. Another has no more
// than the library's other functions.
std::size_t stack_of_program(std::size_t local_bytes) {
  return local_bytes == 0 ? 0 : (std::size_t{64} << 10) + local_bytes;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Status::unsupported, "the cpu device " + what);
}

// The host's memory: somebody else's, or a part of it, unless it is `owned`.
class CpuMemory final : public Buffer {
 public:
  CpuMemory(std::uintptr_t address, std::size_t bytes, bool owned)
      : address_(address), bytes_(bytes), owned_(owned) {}
  ~CpuMemory() override {
    if (owned_) {
      ::operator delete(reinterpret_cast<void*>(address_), page);
    }
  }
  CpuMemory(const CpuMemory&) = delete;
  CpuMemory& operator=(const CpuMemory&) = delete;

  static std::unique_ptr<Buffer> allocate(std::size_t bytes) {
    void* const memory = ::operator new(bytes, page, std::nothrow);
    if (memory == nullptr) {
      throw Error(Status::out_of_memory, "the host has no " + std::to_string(bytes) + " bytes of memory");
    }
    return std::make_unique<CpuMemory>(reinterpret_cast<std::uintptr_t>(memory), bytes, true);
  }

  std::size_t bytes() const override { return bytes_; }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t bytes) const override {
    return std::make_unique<CpuMemory>(address_ + offset, bytes, false);
  }
  bool aligned() const override { return address_ % 16 == 0; }
  std::uintptr_t native() const override { return address_; }

 private:
  static constexpr std::align_val_t page{4096};

  const std::uintptr_t address_;
  const std::size_t bytes_;
  const bool owned_;
};

// One that was compiled with the library, or by the `library` that it then comes in.
class CpuKernel final : public Kernel {
 public:
  CpuKernel(std::shared_ptr<CpuEntry> entry, std::size_t local_bytes, std::string library = {})
      : entry_(std::move(entry)), stack_bytes_(stack_of_program(local_bytes)), library_(std::move(library)) {}
  std::size_t sub_group_size(const Extent&) const override { return 1; }
  std::string binary() const override { return library_; }
  std::size_t stack_bytes() const { return stack_bytes_; }
  void compute(const Geometry& geometry, const HostQueue::Arguments& arguments, std::size_t first,
               std::size_t end) const {
    call_with_stack(stack_bytes_, [&] { (*entry_)(arguments.data(), geometry.groups.data(), first, end); });
  }

 private:
  const std::shared_ptr<CpuEntry> entry_;
  const std::size_t stack_bytes_;
  const std::string library_;
};

class CpuQueue final : public HostQueue {
 public:
  explicit CpuQueue(WorkerThreads& workers) : workers_(workers) {}

  void launch(const Kernel& kernel, const Geometry& geometry, std::span<const Argument> arguments) override {
    Arguments places{};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (const Buffer* const* buffer = std::get_if<const Buffer*>(&arguments[i])) {
        places.at(i) = *buffer == nullptr ? nullptr : reinterpret_cast<const void*>((*buffer)->native());
      } else if (const auto* bytes = std::get_if<std::span<const std::byte>>(&arguments[i])) {
        places.at(i) = bytes->data();
      } else {
        places.at(i) = std::visit([](const auto& number) -> const void* { return &number; }, arguments[i]);
      }
    }
    compute(kernel, geometry, places);
  }

  void compute(const Kernel& kernel, const Geometry& geometry, const Arguments& arguments) override {
    const auto& program = static_cast<const CpuKernel&>(kernel);
    const std::size_t groups = geometry.groups[0] * geometry.groups[1];
    if (geometry.cores == 1 || groups == 1) {
      program.compute(geometry, arguments, 0, groups);
    } else {
      compute_with_others(program, geometry, arguments, groups);
    }
  }

  void start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to.native() + offset), from, bytes);
  }
  void start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void*>(from.native() + offset), bytes);
  }
  void barrier(bool) override {}
  void finish() override {}
  double timed(const std::function<void()>& enqueue) override {
    const auto start = std::chrono::steady_clock::now();
    enqueue();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(this); }
  QueueState state() const override { return {native()}; }
  void with_device(const std::function<void()>& work) override { work(); }

 private:
  // A small product would save registers for what is done here.
  [[gnu::noinline]] void compute_with_others(const CpuKernel& program, const Geometry& geometry,
                                             const Arguments& arguments, std::size_t groups) {
    // Several at once where there are many.
    constexpr std::size_t turns = 64;
    const std::size_t several = std::max<std::size_t>(groups / (turns * geometry.cores), 1);
    // Once for all that the calling thread computes, with a little more for what is called on the way.
    constexpr std::size_t way = std::size_t{16} << 10;
    call_with_stack(program.stack_bytes() + way, [&] {
      workers_.compute((groups + several - 1) / several, [&](std::size_t i) {
        program.compute(geometry, arguments, i * several, std::min((i + 1) * several, groups));
      });
    });
  }

  WorkerThreads& workers_;
};

#ifdef __clang__
constexpr const char* compiler = "Clang " __clang_version__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

DeviceInfo describe(const CpuPrograms& programs, std::size_t threads) {
  const auto cache = [](int level, std::size_t otherwise) {
    const std::size_t bytes = cache_bytes(level);
    return bytes > 0 ? bytes : otherwise;
  };
  DeviceInfo info;
  info.backend = "cpu";
  info.kind = DeviceKind::cpu;
  info.name = processor_name() + " with " + programs.instructions;
  info.platform = "CPU";
  info.driver = "none";
  info.runtime = compiler;
  info.compute_units = threads;
  info.clock_mhz = processor_mhz();
  info.memory_bytes = info.max_allocation_bytes = host_memory_bytes();
  info.vector_floats = programs.vector_floats;
  // Where the system does not tell: what every processor with AVX2 has.
  info.core_cache_bytes = cache(2, std::size_t{256} << 10);
  info.cache_bytes = cache(3, info.core_cache_bytes);
  info.local_bytes = info.dynamic_local_bytes = std::size_t{3} << 20;
  info.max_work_group = 1024;
  info.slice_alignment = 64;
  info.max_groups.fill(std::numeric_limits<std::uint32_t>::max());
  info.host_memory = true;
  info.barriers = false;
  info.compiles_concurrently = true;
  info.seconds_to_start = threads > 1 ? 5e-6 : 0.0;  // measured on two AVX-512 cores (Zen 4 and 5)
  info.programs = &programs.programs();
  return info;
}

Tunables tunables_of(const ProgramSource& source) { return {source.defines.begin(), source.defines.end()}; }

class CpuDevice final : public Device {
 public:
  CpuDevice(const CpuPrograms& programs, std::size_t threads)
      : programs_(programs), info_(describe(programs, threads)), workers_(threads) {}
  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return CpuMemory::allocate(bytes); }
  std::unique_ptr<Buffer> wrap(const void* host) override {
    return std::make_unique<CpuMemory>(reinterpret_cast<std::uintptr_t>(host),
                                       std::numeric_limits<std::size_t>::max(), false);
  }
  std::unique_ptr<Queue> create_queue() override { return create_host_queue(); }
  std::unique_ptr<HostQueue> create_host_queue() override { return std::make_unique<CpuQueue>(workers_); }
  std::string build_options(const ProgramSource& source) const override {
    return host_compiler_text(source, programs_);
  }
  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    return load(source.entry, compile_for_host(source, programs_));
  }
  std::shared_ptr<const Kernel> find_built(const ProgramSource& source) override {
    const BuiltProgram* const found =
        source.embedded ? find_program(info_, source.entry, tunables_of(source)) : nullptr;
    if (found == nullptr) {
      return nullptr;
    }
    const std::shared_ptr<CpuEntry> entry(std::shared_ptr<void>(), reinterpret_cast<CpuEntry*>(found->entry));
    const KernelSpec& spec = find_kernel(source.entry);
    return std::make_shared<CpuKernel>(entry, spec.local_bytes(tunables_of(source)));
  }
  std::shared_ptr<const Kernel> load(const std::string&, const std::string& library) override {
    return std::make_shared<CpuKernel>(load_for_host(library), info_.local_bytes, library);
  }

 private:
  const CpuPrograms& programs_;
  const DeviceInfo info_;
  WorkerThreads workers_;
};

class CpuBackend final : public Backend {
 public:
  std::string_view name() const override { return "cpu"; }
  bool has_driver() const override { return false; }
  std::vector<DeviceInfo> devices() const override {
    if (cpu_programs().empty()) {
      return {};
    }
    return {describe(cpu_programs().front(), threads_of_process())};
  }
  std::string obstacle() const override {
    return cpu_programs().empty() ? "the library was built for another processor alone (DUOGEMM_NATIVE)" : "";
  }
  std::unique_ptr<Device> open(std::size_t index, const DeviceOptions& options) const override {
    if (options.cache != CachePreference::none || options.banks != BankWidth::standard) {
      refuse("has no cache preference and no bank width; only cuda has");
    }
    if (cpu_programs().empty()) {
      throw Error(Status::unsupported, "no cpu device: " + obstacle());
    }
    if (index > 0) {
      throw Error(Status::invalid_argument, "no cpu device " + std::to_string(index) + "; there is 1");
    }
    return open_cpu(cpu_programs().front(), threads_of_process());
  }
};

}  // namespace

const Backend& cpu_backend() {
  static const CpuBackend backend;
  return backend;
}

std::unique_ptr<Device> open_cpu(const CpuPrograms& programs, std::size_t threads) {
  return std::make_unique<CpuDevice>(programs, threads);
}

}  // namespace duogemm
