#include "cuda_device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "nvrtc_compile.h"

namespace duogemm::cuda {
namespace {

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(SharedContext context, CUdeviceptr pointer, std::size_t bytes, bool owned)
      : context_(std::move(context)), pointer_(pointer), bytes_(bytes), owned_(owned) {}
  ~CudaBuffer() override {
    if (owned_) {
      const CurrentContext current(context_);
      // Waits for the commands that use the memory, as it does for all that comes from cuMemAlloc.
      driver()->cuMemFree(pointer_);
    }
  }
  std::size_t bytes() const override { return bytes_; }
  std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t bytes) const override {
    return std::make_unique<CudaBuffer>(context_, pointer_ + offset, bytes, false);
  }
  bool aligned() const override { return pointer_ % 16 == 0; }
  std::uintptr_t native() const override { return pointer_; }

 private:
  SharedContext context_;
  CUdeviceptr pointer_;
  std::size_t bytes_;
  bool owned_;
};

class CudaKernel final : public Kernel {
 public:
  CudaKernel(SharedContext context, const void* image, const std::string& entry, std::string binary = {},
             KernelFacts texts = {})
      : context_(std::move(context)), binary_(std::move(binary)), texts_(std::move(texts)) {
    const CurrentContext current(context_);
    DUOGEMM_CUDA(cuModuleLoadData(&module_, image));
    try {
      DUOGEMM_CUDA(cuModuleGetFunction(&function_, module_, entry.c_str()));
      // What the code was compiled for has GRID_DEPENDENCY_WAIT and clusters, and not the device.
      int compiled_for = 0;
      DUOGEMM_CUDA(cuFuncGetAttribute(&compiled_for, CU_FUNC_ATTRIBUTE_PTX_VERSION, function_));
      is_for_90_ = compiled_for >= 90;
    } catch (...) {
      driver()->cuModuleUnload(module_);
      throw;
    }
  }
  ~CudaKernel() override {
    const CurrentContext current(context_);
    driver()->cuModuleUnload(module_);
  }
  CudaKernel(const CudaKernel&) = delete;
  CudaKernel& operator=(const CudaKernel&) = delete;
  std::size_t sub_group_size(const Extent&) const override { return 32; }
  std::string binary() const override { return binary_; }
  KernelFacts facts(const Extent& local) const override;
  CUfunction get() const { return function_; }
  bool is_for_90() const { return is_for_90_; }
  // CUDA wants to be asked for more local memory than every device has, once.
  void allow_local(std::size_t bytes) const {
    if (allowed_local_.load() < bytes) {
      DUOGEMM_CUDA(cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      static_cast<int>(bytes)));
      allowed_local_ = bytes;
    }
  }

  void apply(const DeviceOptions& options) const {
    const CurrentContext current(context_);
    if (options.cache != CachePreference::none) {
      DUOGEMM_CUDA(cuFuncSetCacheConfig(
          function_, options.cache == CachePreference::l1      ? CU_FUNC_CACHE_PREFER_L1
                     : options.cache == CachePreference::local ? CU_FUNC_CACHE_PREFER_SHARED
                                                               : CU_FUNC_CACHE_PREFER_EQUAL));
    }
#if CUDA_VERSION < 13000
    if (options.banks != BankWidth::standard) {
      DUOGEMM_CUDA(cuFuncSetSharedMemConfig(function_, options.banks == BankWidth::eight_bytes
                                                           ? CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
                                                           : CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
    }
#endif
  }

 private:
  SharedContext context_;
  std::string binary_;  // only NVRTC's: the driver does not give an image back
  KernelFacts texts_;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  bool is_for_90_ = false;
  mutable std::atomic<std::size_t> allowed_local_ = 0;
};

KernelFacts CudaKernel::facts(const Extent& local) const {
  const CurrentContext current(context_);
  const auto attribute = [&](CUfunction_attribute which) {
    int value = 0;
    DUOGEMM_CUDA(cuFuncGetAttribute(&value, which, function_));
    return static_cast<std::size_t>(value);
  };
  KernelFacts facts = texts_;
  facts.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
  facts.stack_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  facts.local_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  int groups = 0;
  DUOGEMM_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(
      &groups, function_, static_cast<int>(local[0] * local[1] * local[2]), 0));
  facts.resident = static_cast<std::size_t>(groups);
  return facts;
}

class TimingEvent {
 public:
  TimingEvent() { DUOGEMM_CUDA(cuEventCreate(&event_, CU_EVENT_DEFAULT)); }
  ~TimingEvent() { driver()->cuEventDestroy(event_); }
  TimingEvent(const TimingEvent&) = delete;
  TimingEvent& operator=(const TimingEvent&) = delete;
  void record(CUstream stream) { DUOGEMM_CUDA(cuEventRecord(event_, stream)); }
  double seconds_since(const TimingEvent& earlier) {
    float milliseconds = 0.0f;
    DUOGEMM_CUDA(cuEventSynchronize(event_));
    DUOGEMM_CUDA(cuEventElapsedTime(&milliseconds, earlier.event_, event_));
    return 1e-3 * milliseconds;
  }

 private:
  CUevent event_ = nullptr;
};

class CudaQueue final : public Queue {
 public:
  explicit CudaQueue(SharedContext context) : context_(std::move(context)) {
    const CurrentContext current(context_);
    DUOGEMM_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }
  CudaQueue(SharedContext context, CUstream borrowed)
      : context_(std::move(context)), stream_(borrowed), owned_(false) {}
  ~CudaQueue() override {
    if (owned_) {
      const CurrentContext current(context_);
      driver()->cuStreamDestroy(stream_);
    }
  }
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  void start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) override {
    const CurrentContext current(context_);
    DUOGEMM_CUDA(cuMemcpyHtoDAsync(to.native() + offset, from, bytes, stream_));
  }
  void start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override {
    const CurrentContext current(context_);
    DUOGEMM_CUDA(cuMemcpyDtoHAsync(to, from.native() + offset, bytes, stream_));
  }
  void launch(const Kernel& kernel, const Geometry& geometry, std::span<const Argument> arguments) override;
  void barrier(bool awaits) override { early_ = awaits; }
  void finish() override {
    const CurrentContext current(context_);
    DUOGEMM_CUDA(cuStreamSynchronize(stream_));
  }
  double timed(const std::function<void()>& enqueue) override {
    const CurrentContext current(context_);
    TimingEvent start;
    TimingEvent stop;
    start.record(stream_);
    enqueue();
    stop.record(stream_);
    return stop.seconds_since(start);
  }
  std::unique_ptr<Recording> record(const std::function<void()>& enqueue) override {
    return cuda::record(context_, stream_, enqueue);
  }
  std::uintptr_t native() const override { return reinterpret_cast<std::uintptr_t>(stream_); }
  QueueState state() const override;
  std::unique_ptr<Buffer> graph_memory(std::size_t bytes) override {
    const CurrentContext current(context_);
    return context_->graph_memory().lend(context_, stream_, bytes);
  }
  void with_device(const std::function<void()>& work) override {
    const CurrentContext current(context_);
    work();
  }

 private:
  SharedContext context_;
  CUstream stream_ = nullptr;
  bool owned_ = true;
  bool early_ = false;  // the next kernel may be started before those in front of it are done
};

// The legacy stream has two handles, and behind that of the per-thread stream each thread has its own.
std::uintptr_t handle_of_one_stream(CUstream stream) {
  thread_local const char here = 0;
  if (stream == CU_STREAM_PER_THREAD) {
    return reinterpret_cast<std::uintptr_t>(&here);
  }
  return stream == CU_STREAM_LEGACY ? 0 : reinterpret_cast<std::uintptr_t>(stream);
}

QueueState CudaQueue::state() const {
  const CurrentContext current(context_);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  DUOGEMM_CUDA(cuStreamIsCapturing(stream_, &status));
  QueueState state{.handle = handle_of_one_stream(stream_),
                   .capturing = status != CU_STREAM_CAPTURE_STATUS_NONE};
  // While it is captured a stream may be asked for little: the driver may end the capture.
  if (!state.capturing && driver()->cuStreamGetId != nullptr) {
    unsigned long long id = 0;
    check(driver()->cuStreamGetId(stream_, &id), "cuStreamGetId");
    state.serial = id;
  }
  return state;
}

void CudaQueue::launch(const Kernel& kernel, const Geometry& geometry, std::span<const Argument> arguments) {
  const CurrentContext current(context_);
  std::vector<CUdeviceptr> pointers;
  pointers.reserve(arguments.size());  // the addresses below must stay valid
  std::vector<void*> parameters;
  parameters.reserve(arguments.size());
  for (const Argument& argument : arguments) {
    if (const Buffer* const* buffer = std::get_if<const Buffer*>(&argument)) {
      pointers.push_back(*buffer != nullptr ? (*buffer)->native() : 0);
      parameters.push_back(&pointers.back());
    } else if (const auto* bytes = std::get_if<std::span<const std::byte>>(&argument)) {
      parameters.push_back(const_cast<std::byte*>(bytes->data()));
    } else {
      std::visit(
          [&](const auto& value) {
            parameters.push_back(const_cast<void*>(static_cast<const void*>(&value)));
          },
          argument);
    }
  }
  const auto dimension = [](std::size_t size) { return static_cast<unsigned>(size); };
  const Extent& groups = geometry.groups;
  const Extent& local = geometry.local;
  const auto& cuda_kernel = static_cast<const CudaKernel&>(kernel);
  if (geometry.dynamic_local_bytes > 0) {
    cuda_kernel.allow_local(geometry.dynamic_local_bytes);
  }
  const auto dynamic_local_bytes = static_cast<unsigned>(geometry.dynamic_local_bytes);
  [[maybe_unused]] const bool early = std::exchange(early_, false) && cuda_kernel.is_for_90();
#if CUDA_VERSION >= 12030
  if ((early || geometry.cluster > 1) && driver()->cuLaunchKernelEx != nullptr) {
    std::array<CUlaunchAttribute, 2> attributes{};
    CUlaunchConfig config{};
    config.gridDimX = dimension(groups[0]);
    config.gridDimY = dimension(groups[1]);
    config.gridDimZ = dimension(groups[2]);
    config.blockDimX = dimension(local[0]);
    config.blockDimY = dimension(local[1]);
    config.blockDimZ = dimension(local[2]);
    config.sharedMemBytes = dynamic_local_bytes;
    config.hStream = stream_;
    config.attrs = attributes.data();
    if (early) {
      CUlaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attribute.value.programmaticStreamSerializationAllowed = 1;
    }
    if (geometry.cluster > 1) {
      CUlaunchAttribute& attribute = attributes[config.numAttrs++];
      attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute.value.clusterDim = {1, 1, dimension(geometry.cluster)};
    }
    DUOGEMM_CUDA(cuLaunchKernelEx(&config, cuda_kernel.get(), parameters.data(), nullptr));
    return;
  }
#endif
  DUOGEMM_CUDA(cuLaunchKernel(cuda_kernel.get(), dimension(groups[0]), dimension(groups[1]),
                              dimension(groups[2]), dimension(local[0]), dimension(local[1]),
                              dimension(local[2]), dynamic_local_bytes, stream_, parameters.data(), nullptr));
}

class CudaDevice final : public Device {
 public:
  CudaDevice(SharedContext context, DeviceInfo info, const DeviceOptions& options)
      : info_(std::move(info)), options_(options), context_(std::move(context)) {}

  const DeviceInfo& info() const override { return info_; }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    const CurrentContext current(context_);
    CUdeviceptr pointer = 0;
    DUOGEMM_CUDA(cuMemAlloc(&pointer, bytes));
    return std::make_unique<CudaBuffer>(context_, pointer, bytes, true);
  }

  Staging allocate_staging(std::size_t bytes) override {
    const CurrentContext current(context_);
    void* data = nullptr;
    DUOGEMM_CUDA(cuMemHostAlloc(&data, bytes, 0));
    return Staging(static_cast<std::byte*>(data), [context = context_](std::byte* pinned) {
      const CurrentContext current(context);
      driver()->cuMemFreeHost(pinned);
    });
  }

  std::unique_ptr<Queue> create_queue() override { return std::make_unique<CudaQueue>(context_); }

  std::string build_options(const ProgramSource& source) const override {
    return nvrtc_option_text(source, info_.compute_capability);
  }

  std::shared_ptr<const Kernel> compile(const ProgramSource& source) override {
    const NvrtcProgram program = compile_with_nvrtc(source, info_.compute_capability, options_.explain);
    const auto kernel =
        std::make_shared<const CudaKernel>(context_, program.image.data(), source.entry, program.image,
                                           options_.explain ? texts_of(program) : KernelFacts{});
    kernel->apply(options_);
    return kernel;
  }

  std::shared_ptr<const Kernel> find_built(const ProgramSource& source) override {
    const std::optional<std::string> cubin = options_.explain ? std::nullopt  // its texts are gone
                                                              : duogemm::shipped_program(source, info_);
    try {
      return cubin ? load(source.entry, *cubin) : nullptr;
    } catch (const Error& error) {
      if (error.status() != Status::build_failed) {
        throw;
      }
      return nullptr;  // the driver is older than the toolkit
    }
  }

  std::shared_ptr<const Kernel> load(const std::string& entry, const std::string& binary) override {
    const auto kernel = std::make_shared<const CudaKernel>(context_, binary.data(), entry);
    kernel->apply(options_);
    return kernel;
  }

 private:
  DeviceInfo info_;
  DeviceOptions options_;
  SharedContext context_;
};

}  // namespace

std::unique_ptr<Device> open_device(const SharedContext& context, const DeviceInfo& info,
                                    const DeviceOptions& options) {
  return std::make_unique<CudaDevice>(context, info, options);
}

namespace {

// A green context has a part of the device's multiprocessors.
std::size_t compute_units_of([[maybe_unused]] const SharedContext& context, std::size_t of_device) {
#if CUDA_VERSION >= 12040
  CUdevResource resource{};
  if (driver()->cuCtxGetDevResource != nullptr &&
      driver()->cuCtxGetDevResource(context->get(), &resource, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS &&
      resource.sm.smCount > 0) {
    return std::min<std::size_t>(resource.sm.smCount, of_device);
  }
#endif
  return of_device;
}

}  // namespace

std::unique_ptr<Device> borrow_context(const SharedContext& context) {
  const CurrentContext current(context);
  CUdevice device = 0;
  DUOGEMM_CUDA(cuCtxGetDevice(&device));
  DeviceInfo info = describe(device, 0);
  info.compute_units = compute_units_of(context, info.compute_units);
  return open_device(context, info, {});
}

std::unique_ptr<Queue> borrow_stream(const SharedContext& context, CUstream stream) {
  return std::make_unique<CudaQueue>(context, stream);
}

std::unique_ptr<Buffer> borrow_memory(const SharedContext& context, const void* pointer) {
  return std::make_unique<CudaBuffer>(context, reinterpret_cast<CUdeviceptr>(pointer), 0, false);
}

}  // namespace duogemm::cuda
