#include "opencl_device.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string_view>

#include "pocl.h"
#include "runtime/program_cache.h"
#include "system/log.h"

namespace duogemm::opencl {
namespace {

constexpr const char* verbose = "-cl-nv-verbose";  // NVIDIA's compiler tells of registers and spills

cl_mem unwrap(const Buffer& buffer) { return reinterpret_cast<cl_mem>(buffer.native()); }

// By OpenCL's own function: to copy a cl::Kernel costs as much as to set several arguments.
void set_argument(cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value) {
  check(clSetKernelArg(kernel, index, bytes, value), "clSetKernelArg");
}

cl::NDRange range(const Extent& extent) { return {extent[0], extent[1], extent[2]}; }

// The host's memory, which is no memory object and has no end that OpenCL knows.
class ClHostMemory final : public ClMemory {
 public:
  explicit ClHostMemory(const void* address) : address_(reinterpret_cast<std::uintptr_t>(address)) {}
  std::size_t bytes() const override { return std::numeric_limits<std::size_t>::max(); }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t) const override {
    return std::make_unique<ClHostMemory>(reinterpret_cast<const void*>(address_ + offset));
  }
  bool aligned() const override { return address_ % 16 == 0; }
  std::uintptr_t native() const override { return address_; }
  void bind(cl_kernel kernel, cl_uint index) const override {
    check(clSetKernelArgSVMPointer(kernel, index, reinterpret_cast<const void*>(address_)),
          "clSetKernelArgSVMPointer");
  }

 private:
  std::uintptr_t address_;
};

class ClKernel final : public Kernel {
 public:
  ClKernel(cl::Program program, const std::string& entry, cl::Device device, const DeviceInfo& info,
           bool explained)
      : program_(std::move(program)),
        kernel_(program_, entry.c_str()),
        device_(std::move(device)),
        info_(info),
        explained_(explained) {
    const auto size = kernel_.getWorkGroupInfo<CL_KERNEL_COMPILE_WORK_GROUP_SIZE>(device_);
    const std::size_t items = size[0] * size[1] * size[2];  // 0 where the kernel does not say
    const std::size_t most = kernel_.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device_);
    // NVIDIA's driver (580) answers 256 for kernels that it has compiled for 1024, and runs.
    if (items > most && !info_.is_nvidia()) {
      throw WorkGroupTooLarge(items, most);
    }
  }

  std::size_t sub_group_size(const Extent& local) const override {
    if (info_.is_nvidia()) {
      return 32;
    }
    if (!info_.shuffle) {
      return 1;
    }
    std::size_t size = 1;
    clGetKernelSubGroupInfo(kernel_(), device_(), CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, sizeof local,
                            local.data(), sizeof size, &size, nullptr);
    return size;
  }

  // PoCL compiles a kernel that it is asked for once more, for work-groups of any size: the first call of the
  // general kernel then took 2.2 s instead of 1.25 s (`duogemm latency`, two AVX-512 cores). It keeps what it
  // compiles on disk by itself, and a later process's first call is only 25 ms slower from there.
  std::string binary() const override {
    if (is_pocl(info_)) {
      return {};
    }
    return translated([&] {
      const std::vector<cl::Device> devices = program_.getInfo<CL_PROGRAM_DEVICES>();
      const std::size_t ours =
          static_cast<std::size_t>(std::find(devices.begin(), devices.end(), device_) - devices.begin());
      const auto binaries = program_.getInfo<CL_PROGRAM_BINARIES>();
      const std::vector<unsigned char>& binary = binaries.at(ours);
      return std::string(binary.begin(), binary.end());
    });
  }

  // OpenCL tells nothing of registers and of residence. What NVIDIA calls a program's binary is PTX.
  KernelFacts facts(const Extent&) const override {
    return translated([&] {
      KernelFacts facts;
      facts.local_bytes = kernel_.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device_);
      if (explained_) {
        facts.log = program_.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_);
        const std::string program = info_.is_nvidia() ? binary() : "";
        facts.ptx = program.substr(0, program.find('\0'));  // it may end with one
      }
      return facts;
    });
  }

  const cl::Kernel& get() const { return kernel_; }
  // Held from the first argument that is set to the launch: a cl_kernel has one set of arguments.
  std::mutex& arguments() const { return arguments_; }

  void set(std::span<const Argument> arguments) const {
    cl_uint index = 0;
    for (const Argument& argument : arguments) {
      if (const Buffer* const* buffer = std::get_if<const Buffer*>(&argument)) {
        if (*buffer != nullptr) {
          static_cast<const ClMemory&>(**buffer).bind(kernel_(), index++);
        } else {
          set_argument(kernel_(), index++, sizeof(cl_mem), nullptr);
        }
      } else if (const auto* bytes = std::get_if<std::span<const std::byte>>(&argument)) {
        set_argument(kernel_(), index++, bytes->size(), bytes->data());
      } else {
        std::visit([&](const auto& value) { set_argument(kernel_(), index++, sizeof value, &value); },
                   argument);
      }
    }
  }

 private:
  // Intel's driver (2026.2) no longer has the program of a kernel that alone is left of it.
  cl::Program program_;
  cl::Kernel kernel_;
  mutable std::mutex arguments_;
  cl::Device device_;
  const DeviceInfo& info_;
  const bool explained_;
};

// NVIDIA documents binaries of its own making only. Without the words that make a program OpenCL's
// (cuda/prebuild/main.cpp), its driver (580) takes buffers for numbers, and kernels fault. For a
// number OpenCL refuses a null value, and for a buffer it does not: so it can be asked. The first buffer
// comes after the kernel's struct.
bool takes_buffers(const Kernel& kernel) {
  const cl::Kernel& ours = static_cast<const ClKernel&>(kernel).get();
  return clSetKernelArg(ours(), 1, sizeof(cl_mem), nullptr) == CL_SUCCESS;
}

// An event's profiling times are in nanoseconds.
double seconds_between(const cl::Event& first, const cl::Event& last) {
  const cl_ulong start = first.getProfilingInfo<CL_PROFILING_COMMAND_START>();
  const cl_ulong end = last.getProfilingInfo<CL_PROFILING_COMMAND_END>();
  return end > start ? 1e-9 * static_cast<double>(end - start) : 0.0;
}

// rusticl (Mesa 22.3.6) answers microseconds whatever it takes. A launch's way is much shorter than this.
double believable(double by_device, double by_host) {
  constexpr double way = 0.02;
  return by_host > way && by_device < 0.1 * by_host ? by_host : by_device;
}

// --- NVIDIA's driver, whose compiler answers PTX for a program's binary ------------------------------------

// Says how many work-groups shall be on a multiprocessor at once (.minnctapersm of "Performance-Tuning
// Directives" in the PTX ISA). Without that the compiler spends few registers, and even spills, to have many
// work-groups: of 268 settings that were timed on an H200 both ways, half gain 1 percent and a tenth gain 13.
// The program is assembled twice for it, when it is compiled; the disk cache keeps the second.
std::string with_residents(std::string ptx, int residents) {
  const std::size_t size = ptx.find("\n.reqntid ");
  if (size != std::string::npos) {
    ptx.insert(ptx.find('\n', size + 1), "\n.minnctapersm " + std::to_string(residents));
  }
  return ptx;
}

// Uncomments what NVIDIA's OpenCL compiler would have refused, because it compiles for sm_90, and names the
// target that has it (see compat/warpgroups.h). The driver assembles PTX for either.
std::string with_own_capability(std::string ptx) {
  constexpr std::string_view comment = "//90a ";
  constexpr std::string_view target = ".target sm_90";
  for (std::size_t at = ptx.find(comment); at != std::string::npos; at = ptx.find(comment, at)) {
    ptx.erase(at, comment.size());
  }
  if (const std::size_t at = ptx.find(target); at != std::string::npos) {
    ptx.insert(at + target.size(), 1, 'a');
  }
  return ptx;
}

// The program with all that OpenCL C has no words for, and PTX has.
std::string with_more_than_opencl_says(const std::string& ptx, const ProgramSource& source) {
  std::string better = source.one_capability ? with_own_capability(ptx) : ptx;
  for (const auto& [name, value] : source.defines) {
    if (name == "RESIDENT" && value > 0) {  // see compat/dialect.h
      better = with_residents(std::move(better), value);
    }
  }
  return better;
}

// --- Which drivers have to show that their results are right, and what follows when they are not -----------

bool is_right(const KnownProduct& product, const DeviceInfo& info) {
  const bool right = product.is_right();
  log_line(product.by + (right ? " multiplies right on " : " gives wrong results on ") + info.name);
  return right;
}

// NVIDIA documents no way to have kernels for tensor cores through OpenCL, and another driver may do without
// those that are used (see compat/). FP32 on NVIDIA's OpenCL is what the library's results are recorded by.
std::string refusal_of_tensor_cores(const KnownProduct& product, const DeviceInfo& info) {
  try {
    return is_right(product, info) ? "" : "wrong results";
  } catch (const Error& error) {
    log_line("no " + product.by + " on " + info.name + ": " + error.what());
    return error.what();
  }
}

// Also where it is not known, as when DUOGEMM_FORCE has a kernel that does not compute this product.
bool is_known_to_be_right(const KnownProduct& product, const DeviceInfo& info) {
  const DiskCache disk(cache_directory());
  const std::string key = "a known product\n" + key_of(info);
  if (disk.load(key)) {
    return true;
  }
  try {
    const bool right = is_right(product, info);
    if (right) {
      disk.store(key, "right");
    }
    return right;
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) {
      throw;
    }
    return true;
  }
}

}  // namespace

// A buffer and its sub-buffers, which go before it in the reverse of their order: NVIDIA's driver (580)
// crashes when one of several is released while the others go on.
class ClSlices {
 public:
  explicit ClSlices(cl::Buffer whole) : whole_(std::move(whole)) {}
  ~ClSlices() {
    while (!slices_.empty()) {
      slices_.pop_back();
    }
  }
  ClSlices(const ClSlices&) = delete;
  ClSlices& operator=(const ClSlices&) = delete;

  cl::Buffer find(std::size_t offset, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (const Slice& slice : slices_) {
      if (slice.offset == offset && slice.bytes == bytes) {
        return slice.buffer;
      }
    }
    const cl_buffer_region region{offset, bytes};
    slices_.push_back(
        {offset, bytes, whole_.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region)});
    return slices_.back().buffer;
  }

 private:
  struct Slice {
    std::size_t offset;
    std::size_t bytes;
    cl::Buffer buffer;
  };
  cl::Buffer whole_;
  std::mutex mutex_;
  std::vector<Slice> slices_;
};

ClBuffer::ClBuffer(const cl::Buffer& ours)
    : buffer_(ours()), bytes_(ours.getInfo<CL_MEM_SIZE>()), slices_(std::make_shared<ClSlices>(ours)) {}

std::unique_ptr<Buffer> ClBuffer::slice(std::size_t offset, std::size_t bytes) const {
  if (!slices_) {
    return ClBuffer(cl::Buffer(buffer_, true)).slice(offset, bytes);
  }
  return translated([&] { return std::make_unique<ClBuffer>(slices_->find(offset, bytes)); });
}

void ClBuffer::bind(cl_kernel kernel, cl_uint index) const {
  set_argument(kernel, index, sizeof(cl_mem), &buffer_);
}

void ClQueue::wait_for_events() {
  if (!events_.empty()) {
    check(
        clEnqueueBarrierWithWaitList(queue_(), static_cast<cl_uint>(events_.size()), events_.data(), nullptr),
        "clEnqueueBarrierWithWaitList");
    events_ = {};
  }
}

void ClQueue::start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
  check(clEnqueueWriteBuffer(queue_(), unwrap(to), CL_FALSE, offset, bytes, from, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

void ClQueue::start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) {
  check(clEnqueueReadBuffer(queue_(), unwrap(from), CL_FALSE, offset, bytes, to, 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
}

void ClQueue::launch(const Kernel& kernel, const Geometry& geometry, std::span<const Argument> arguments) {
  wait_for_events();
  translated([&] {
    const ClKernel& ours = static_cast<const ClKernel&>(kernel);
    const std::lock_guard lock(ours.arguments());
    ours.set(arguments);
    Extent global;
    for (std::size_t i = 0; i < global.size(); ++i) {
      global[i] = geometry.groups[i] * geometry.local[i];
    }
    const bool is_first = timing_ && first_() == nullptr;
    queue_.enqueueNDRangeKernel(ours.get(), cl::NullRange, range(global), range(geometry.local), nullptr,
                                is_first ? &first_ : nullptr);
  });
}

void ClQueue::barrier(bool) {
  wait_for_events();
  translated([&] {
    if (queue_.getInfo<CL_QUEUE_PROPERTIES>() & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) {
      queue_.enqueueBarrierWithWaitList();
    }
  });
}

void ClQueue::finish() {
  translated([&] { queue_.finish(); });
}

// Has events at both ends only: one for each kernel makes NVIDIA's queue slower.
double ClQueue::timed(const std::function<void()>& enqueue) {
  return translated([&] {
    const auto start = std::chrono::steady_clock::now();
    first_ = cl::Event();
    timing_ = true;
    try {
      enqueue();
    } catch (...) {
      timing_ = false;
      throw;
    }
    timing_ = false;
    cl::Event last;
    queue_.enqueueMarkerWithWaitList(nullptr, &last);
    queue_.finish();
    if (first_() == nullptr) {
      return 0.0;
    }
    const std::chrono::duration<double> by_host = std::chrono::steady_clock::now() - start;
    return believable(seconds_between(first_, last), by_host.count());
  });
}

namespace {

class ClDevice final : public Device {
 public:
  ClDevice(cl::Device device, DeviceInfo info, cl::Context context, bool explain)
      : device_(std::move(device)), info_(std::move(info)), context_(std::move(context)), explain_(explain) {}

  const DeviceInfo& info() const override { return info_; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return translated(
        [&] { return std::make_unique<ClBuffer>(cl::Buffer(context_, CL_MEM_READ_WRITE, bytes)); });
  }

  // A buffer in the host's memory, mapped as long as it lives: NVIDIA's driver pins such memory.
  Staging allocate_staging(std::size_t bytes) override {
    return translated([&] {
      const cl::CommandQueue queue(context_, device_);
      const cl::Buffer buffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes);
      void* const data = queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes);
      return Staging(static_cast<std::byte*>(data), [queue, buffer](std::byte* mapped) {
        clEnqueueUnmapMemObject(queue(), buffer(), mapped, 0, nullptr, nullptr);
        clFinish(queue());
      });
    });
  }

  std::unique_ptr<Buffer> wrap(const void* host) override {
    if (!info_.host_memory) {
      return Device::wrap(host);
    }
    return std::make_unique<ClHostMemory>(host);
  }

  std::unique_ptr<Queue> create_queue() override {
    return translated([&] {
      return std::make_unique<ClQueue>(cl::CommandQueue(context_, device_, cl::QueueProperties::Profiling));
    });
  }

  std::string build_options(const ProgramSource& source) const override {
    // Sub-group functions need OpenCL C 3.0 where they are not NVIDIA's inline PTX.
    std::string options = info_.shuffle && !info_.is_nvidia() ? "-cl-std=CL3.0" : "-cl-std=CL1.2";
    if (info_.is_nvidia()) {
      options += " -DDUOGEMM_COMPUTE_CAPABILITY=" + std::to_string(info_.compute_capability);
      options += explain_ ? std::string(" ") + verbose : "";
    }
    if (is_pocl(info_)) {
      // It says on the error output how many warnings there were. Without AVX-512, float16 makes some in
      // every program: that functions take it in another way than with it, which no kernel minds.
      options += " -w";
    }
    for (const auto& [name, value] : source.defines) {
      options += " -D" + name + "=" + std::to_string(value);
    }
    return options;
  }

  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    const std::string options = build_options(source);
    const auto compile_once = [&] {
      return build([&] { return cl::Program(context_, source.text); }, source.entry, options);
    };
    if (is_pocl(info_)) {
      require_room_in_pocl_cache();
      try {
        return compile_once();
      } catch (const Error&) {
        return compile_once();  // it may fail where other processes compile at the same time
      }
    }
    const std::shared_ptr<const Kernel> kernel = compile_once();
    const std::string binary = info_.is_nvidia() ? kernel->binary() : std::string();
    const std::string better = info_.is_nvidia() ? with_more_than_opencl_says(binary, source) : binary;
    return better != binary ? load(source.entry, better) : kernel;
  }

  std::shared_ptr<const Kernel> find_built(const ProgramSource& source) override {
    const std::optional<std::string> cubin = explain_ ? std::nullopt : shipped_program(source, info_);
    if (!cubin) {
      return nullptr;
    }
    try {
      std::shared_ptr<const Kernel> kernel = load(source.entry, *cubin);
      return takes_buffers(*kernel) ? kernel : nullptr;
    } catch (const Error&) {
      return nullptr;  // the driver is older than the assembler; whatever else it is, the compiler helps or
                       // says so
    }
  }

  std::shared_ptr<const Kernel> load(const std::string& entry, const std::string& binary) override {
    const auto create = [&] {
      // By OpenCL's own function: cl::Program has copies of all binaries made.
      const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
      const std::size_t size = binary.size();
      cl_int status = CL_SUCCESS;
      cl::Program program(
          clCreateProgramWithBinary(context_(), 1, &device_(), &size, &bytes, nullptr, &status));
      cl::detail::errHandler(status, "clCreateProgramWithBinary");
      return program;
    };
    return build(create, entry, info_.is_nvidia() && explain_ ? verbose : "");
  }

  // Some drivers give wrong results and no error, as rusticl (Mesa 22.3.6). That one was right is kept on
  // disk for this version of the driver and of the library.
  std::string refusal(const KnownProduct& product) override {
    if (product.on_tensor_cores) {
      return refusal_of_tensor_cores(product, info_);
    }
    if (info_.is_nvidia() || is_known_to_be_right(product, info_)) {
      return {};
    }
    return info_.name + " through the OpenCL driver " + info_.platform + " " + info_.driver +
           " gives wrong results, as a product that is known shows; choose another device (DUOGEMM_DEVICE) "
           "or "
           "driver";
  }

  std::unique_lock<std::mutex> exclusive_use() override {
    return is_pocl(info_) ? exclusive_use_of_pocl() : std::unique_lock<std::mutex>();
  }

  std::optional<std::size_t> kernels_compiled_by_launches() const override {
    return is_pocl(info_) ? std::optional(kernels_kept_by_pocl()) : std::nullopt;
  }

 private:
  // Whatever fails here but for lack of memory, the program could not be built.
  std::shared_ptr<const Kernel> build(const std::function<cl::Program()>& create, const std::string& entry,
                                      const std::string& options) {
    // NVIDIA's compiler works on one program at a time, and has crashed with 15 threads waiting for it.
    static std::mutex nvidias;
    std::unique_lock one_at_a_time(nvidias, std::defer_lock);
    if (info_.is_nvidia()) {
      one_at_a_time.lock();
    }
    const auto failure = [&](Status status, const std::string& why) {
      return Error(status, "OpenCL: " + entry + ": " + why);
    };
    return on_driver_stack([&]() -> std::shared_ptr<const Kernel> {
      cl::Program program;
      try {
        program = create();
        program.build(device_, options.c_str());
        return std::make_shared<ClKernel>(program, entry, device_, info_, explain_);
      } catch (const cl::BuildError&) {
        const std::string log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_);
        throw failure(Status::build_failed,
                      log.empty() ? "the compiler failed and says nothing" + remedy() : log);
      } catch (const cl::Error& error) {
        const bool no_memory = status_of(error.err()) == Status::out_of_memory;
        throw failure(no_memory ? Status::out_of_memory : Status::build_failed,
                      std::string(error.what()) + " returned " + std::to_string(error.err()) + remedy());
      }
    });
  }

  // Files that were cut off, as on a full disk, are among what PoCL fails at, and it does not say so.
  std::string remedy() const { return is_pocl(info_) ? ": " + pocl_cache_remedy() : ""; }

  cl::Device device_;
  DeviceInfo info_;
  cl::Context context_;
  const bool explain_;
};

}  // namespace

std::unique_ptr<Device> open_device(const cl::Device& device, const DeviceInfo& info,
                                    const cl::Context& context, bool explain) {
  return std::make_unique<ClDevice>(device, info, context, explain);
}

}  // namespace duogemm::opencl
