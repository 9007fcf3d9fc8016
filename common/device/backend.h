// The interface that opencl/, cuda/ and cpu/ implement, and that everything else is written against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "device/device_info.h"
#include "duogemm/error.h"

namespace duogemm {

// Device memory, which may be given up while commands that use it are on their way. A slice refers to the
// memory of its parent and must not outlive it.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::size_t bytes() const = 0;
  // offset and bytes in bytes; offset is a multiple of DeviceInfo::slice_alignment.
  virtual std::unique_ptr<Buffer> slice(std::size_t offset, std::size_t bytes) const = 0;
  // Tells whether it begins at a multiple of 16 bytes, as memory does unless somebody else gave it to us.
  virtual bool aligned() const { return true; }
  // The runtime's own handle: a cl_mem, or a CUdeviceptr; of wrapped memory its address.
  virtual std::uintptr_t native() const = 0;
};

// Memory of the host for copies to and from the device, which reads and writes it by itself where the runtime
// has such memory (pinned).
using Staging = std::shared_ptr<std::byte[]>;

// A runtime tells these of a compiled kernel. They are empty where it does not.
struct KernelFacts {
  std::optional<std::size_t> registers = {};    // of a work-item
  std::optional<std::size_t> stack_bytes = {};  // of a work-item: what did not fit into registers
  std::optional<std::size_t> local_bytes = {};  // of a work-group
  std::optional<std::size_t> resident = {};     // work-groups on a compute unit at once
  // Only with DeviceOptions::explain: the compiler's log, and the program in NVIDIA's portable assembly, as a
  // cubin, or as WebGPU's shader.
  std::string log = {};
  std::string ptx = {};
  std::string cubin = {};
  std::string wgsl = {};
};

// A compiled kernel.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Answers the work-items per sub-group of a launch with this work-group; 1 where the runtime does not say.
  virtual std::size_t sub_group_size(const Extent& local) const = 0;
  // Answers the compiled program, for Device::load of another process; empty where none is worth keeping.
  virtual std::string binary() const = 0;
  // When launched with this work-group.
  virtual KernelFacts facts(const Extent&) const { return {}; }
};

// A launch counts work-groups, not work-items: a global size is thus always a whole number of work-groups.
// Where a device has clusters (DeviceInfo::clusters), neighbours in the third dimension can form them.
struct Geometry {
  Extent groups;
  Extent local;
  std::size_t cluster = 1;  // work-groups in each
  // Of the array that a kernel declares by DYNAMIC_LOCAL (compat/tensor_cores.h); 0 when there is none.
  std::size_t dynamic_local_bytes = 0;
  std::size_t cores = 1;  // that share the work-groups, where threads of this process compute them
};

// A number, a kernel's struct, or a buffer, which may be null where the kernel does not read it.
using Argument = std::variant<std::int32_t, float, std::span<const std::byte>, const Buffer*>;

// Commands that were recorded from a queue, which must outlive them.
class Recording {
 public:
  virtual ~Recording() = default;
  // Puts all of them on the queue at once.
  virtual void enqueue() = 0;
};

// This tells which queue it is, and whether its commands run. Queues that are gone leave their handles to new
// ones: where they may do so before their commands are done, and the runtime tells, `serial` is a number that
// never comes again.
struct QueueState {
  std::uintptr_t handle;  // no two queues that live have the same
  std::optional<std::uint64_t> serial = {};
  bool capturing = false;  // commands become part of a CUDA graph, and run when that does
};

// A queue (a cl_command_queue or a CUDA stream). It is in order, but for a caller's own that OpenCL runs out
// of order: there nothing but barriers orders what is launched. One thread at a time uses a Queue; others may
// have their own on the same handle.
class Queue {
 public:
  virtual ~Queue() = default;
  // Copies to and from a buffer, from byte `offset` of it on. The host's memory stays as it is until the
  // queue is finished.
  virtual void start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) = 0;
  // The same from its beginning, done when they return.
  void write(const Buffer& to, const void* from, std::size_t bytes) {
    start_write(to, 0, from, bytes);
    finish();
  }
  void read(const Buffer& from, void* to, std::size_t bytes) {
    start_read(from, 0, to, bytes);
    finish();
  }
  virtual void launch(const Kernel& kernel, const Geometry& geometry,
                      std::span<const Argument> arguments) = 0;
  // All that is launched from here on starts when everything before is done. If the next kernel `awaits` that
  // by itself (GRID_DEPENDENCY_WAIT), it may be started before, which hides what a launch costs.
  virtual void barrier(bool awaits) = 0;
  virtual void finish() = 0;
  // So that no command goes on when the memory that it uses is gone. A device that is lost does nothing any
  // more.
  void finish_whatever_happens() noexcept {
    try {
      finish();
    } catch (...) {
    }
  }
  // Calls `enqueue`, waits, and answers how many seconds the device spent from the start of the first command
  // that it put on this queue to the end of the last.
  virtual double timed(const std::function<void()>& enqueue) = 0;
  // Calls `enqueue` and records what it puts on this queue in place of executing it (a CUDA graph).
  virtual std::unique_ptr<Recording> record(const std::function<void()>&) {
    throw Error(Status::unsupported, "commands can be recorded through CUDA only");
  }
  // The runtime's own handle: a cl_command_queue, or a CUstream.
  virtual std::uintptr_t native() const = 0;
  virtual QueueState state() const = 0;
  // Memory for what is put on the queue as long as the result lives, while it is captured (see QueueState).
  // The graph keeps it: it is freed when the graph, its copies and its executables are gone. What runs later
  // in the same graph may be lent it again. Throws out_of_memory.
  virtual std::unique_ptr<Buffer> graph_memory(std::size_t) {
    throw Error(Status::unsupported, "commands are captured through CUDA only");
  }
  // Calls `work` with the queue's device current to this thread, for a library that works on native handles.
  virtual void with_device(const std::function<void()>& work) = 0;
};

// The queue of a device whose kernels this process computes: what is launched is done when the call returns,
// and all threads may use it at once.
class HostQueue : public Queue {
 public:
  // For each parameter of a kernel, the buffer's address, or where the number or struct stands. No kernel has
  // more of them.
  using Arguments = std::array<const void*, 10>;
  virtual void compute(const Kernel& kernel, const Geometry& geometry, const Arguments& arguments) = 0;
};

// Some drivers tell only of a compiled kernel that its work-groups have more work-items than find room.
class WorkGroupTooLarge : public Error {
 public:
  WorkGroupTooLarge(std::size_t items, std::size_t most_items)
      : Error(Status::unsupported, "work-groups of at most " + std::to_string(most_items) +
                                       " work-items for this kernel, which has " + std::to_string(items)),
        most(most_items) {}
  const std::size_t most;
};

struct ProgramSource {
  std::string entry;            // the kernel's name, which is also its file's
  std::string text;             // complete: no includes left
  Defines defines;              // one per tunable
  bool one_capability = false;  // it uses what one compute capability has and later ones lack (sm_90a)
  bool embedded = true;         // whether the text is the library's own
};

// A CUDA device splits its on-chip memory in one of these ways. OpenCL has no such choice.
enum class CachePreference { none, local, l1, equal };
enum class BankWidth { standard, four_bytes, eight_bytes };
struct DeviceOptions {
  CachePreference cache = CachePreference::none;
  BankWidth banks = BankWidth::standard;
  // Kernels are compiled anew, and keep all that KernelFacts has a place for.
  bool explain = false;
};

// A product whose result is known, which shows whether a driver makes of kernels what it should.
struct KnownProduct {
  std::string by;  // "kernel tensor", for the log
  bool on_tensor_cores;
  std::function<bool()> is_right;  // computes it; throws what compiling and launching do
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0;
  virtual Staging allocate_staging(std::size_t bytes) { return Staging(new std::byte[bytes]); }
  // The host's memory from an address on, for kernels to work on in place: nothing is copied, and
  // copies to and from it are not. Only where DeviceInfo::host_memory says so.
  virtual std::unique_ptr<Buffer> wrap(const void*) {
    throw Error(Status::unsupported, "this device does not work on the host's memory");
  }
  virtual std::unique_ptr<Queue> create_queue() = 0;
  // Null where the kernels are not computed by this process.
  virtual std::unique_ptr<HostQueue> create_host_queue() { return nullptr; }
  // Answers what the compiler is told besides the text.
  virtual std::string build_options(const ProgramSource& source) const = 0;
  virtual std::shared_ptr<const Kernel> compile(const ProgramSource& source) = 0;
  // Finds what was compiled when the library was built; null where it has no such program.
  virtual std::shared_ptr<const Kernel> find_built(const ProgramSource&) { return nullptr; }
  // The kernel named `entry` of a binary that a kernel of such a device gave. Throws build_failed when the
  // driver refuses it.
  virtual std::shared_ptr<const Kernel> load(const std::string& entry, const std::string& binary) = 0;
  // Tells why the kernels that compute the product are not to be used; empty where they are, as with any
  // driver that needs no proof.
  virtual std::string refusal(const KnownProduct&) { return {}; }
  // Held by whoever waits for what is enqueued, where a driver must not have commands of several queues at
  // work.
  virtual std::unique_lock<std::mutex> exclusive_use() { return {}; }
  // The number of kernels that the driver has on disk, where it compiles a kernel when it is first launched;
  // nothing where `compile` is all that it takes.
  virtual std::optional<std::size_t> kernels_compiled_by_launches() const { return std::nullopt; }
};

// Each thing that there is, with its version.
using Versions = std::vector<std::pair<std::string, std::string>>;

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Tells whether it works through a driver, which does not survive fork(2) (see system/process.h).
  virtual bool has_driver() const { return true; }
  // Every device there is; empty, never an error, where the runtime or its driver is missing.
  virtual std::vector<DeviceInfo> devices() const = 0;
  virtual std::unique_ptr<Device> open(std::size_t index, const DeviceOptions& options) const = 0;
  // Tells what it was built with and what it finds here; in place of a version, why it finds none.
  virtual Versions versions() const { return {}; }
  // Tells why it has no device where a driver is installed; empty where nothing is known.
  virtual std::string obstacle() const { return {}; }
  // A device of the compute capability (90 for 9.0) that is not there: it compiles, with
  // DeviceOptions::explain, and can do nothing else. Throws invalid_argument for one that the compiler no
  // longer knows.
  virtual std::unique_ptr<Device> absent(int) const {
    throw Error(Status::unsupported, "only cuda compiles for a device that is not there");
  }
};

// The backends that this build has. Defined by the build
// (cmake/templates/backends.cpp.in).
const std::vector<const Backend*>& backends();

// The machine code that the library carries for exactly that program and such a device; nothing where it has
// none. Defined by the build, too.
std::optional<std::string> shipped_program(const ProgramSource& source, const DeviceInfo& device);

}  // namespace duogemm
