// The libraries to compare with: the vendor's, and the best known others.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/executor.h"

namespace duogemm::bench {

using Operands = PreparedPlan::Operands;

inline const MatrixPlace& place_of(const Operands& operands, Operand operand) {
  return operands[static_cast<std::size_t>(operand.slot)];
}

// The address of an operand, for libraries that take pointers.
template <typename Element = float>
Element* pointer(const Operands& operands, Operand operand) {
  const MatrixPlace& place = place_of(operands, operand);
  return reinterpret_cast<Element*>(place.buffer->native()) + place.offset;
}

// One multiplication as a library does it.
class Reference {
 public:
  // The operands of an execution; executions within a sample may work on different ones in turn.
  using Turn = std::function<Operands(int execution)>;

  virtual ~Reference() = default;
  // Puts one execution on the library's queue. Only with the queue's device current, as it is within
  // timed(), record() and with_device().
  virtual void enqueue(const Operands& operands) = 0;
  // Seconds that the library takes for `repeats` executions, one after the other.
  virtual double timed(int repeats, const Turn& turn);
  void execute(const Operands& operands) {
    queue_.with_device([&] { enqueue(operands); });
  }

 protected:
  explicit Reference(Queue& queue) : queue_(queue) {}
  Queue& queue() { return queue_; }

 private:
  Queue& queue_;
};

// A multiplication that a function does. Another one is called after each sample.
class FunctionReference final : public Reference {
 public:
  using Enqueue = std::function<void(const Operands& operands)>;
  FunctionReference(
      Queue& queue, Enqueue enqueue, std::function<void()> rest = [] {})
      : Reference(queue), enqueue_(std::move(enqueue)), rest_(std::move(rest)) {}
  void enqueue(const Operands& operands) override { enqueue_(operands); }
  double timed(int repeats, const Turn& turn) override {
    const double seconds = Reference::timed(repeats, turn);
    rest_();
    return seconds;
  }

 private:
  const Enqueue enqueue_;
  const std::function<void()> rest_;
};

// Throws Error where the library fails; messages begin with its name.
class ReferenceLibrary {
 public:
  virtual ~ReferenceLibrary() = default;
  ReferenceLibrary(const ReferenceLibrary&) = delete;
  ReferenceLibrary& operator=(const ReferenceLibrary&) = delete;

  const std::string& title() const { return title_; }  // "cuBLAS"
  virtual std::string name() const { return title_; }  // with the version: "cuBLAS 13.1.0"
  // The error bound of an FP32 sum holds for it. Others are there for their speed and their error.
  virtual bool is_fp32_accurate() const { return true; }
  // Its results must be ours bit for bit.
  virtual bool has_our_bits() const { return false; }
  // It wants its operands there: in a device's memory or the host's.
  Device& device() const { return device_; }
  Queue& queue() const { return queue_; }
  // A multiplication takes this of its device's memory, besides the operands.
  virtual double workspace_bytes(const Problem&) const { return 0.0; }
  // A library that chooses by trying does so on these operands, and leaves a result or rubbish in C. One that
  // keeps nothing multiplies as multiply() does.
  virtual std::unique_ptr<Reference> prepare(const Problem& problem, const Operands& operands);
  // Puts the multiplication on the library's queue as a program does that calls it once: nothing is kept for
  // the next time but what the library itself keeps. The members of a batch by tables stand its strides
  // apart. Only with the queue's device current.
  virtual void multiply(const Problem& problem, const Operands& operands) = 0;
  // Gets ready for all calls of the device, where the library can.
  virtual void warm() {}
  // Called after each sample: returns when the library leaves the machine to others.
  virtual void rest() {}

 protected:
  ReferenceLibrary(std::string title, Device& device, Queue& queue)
      : title_(std::move(title)), device_(device), queue_(queue) {}
  // One that works in the host's memory.
  explicit ReferenceLibrary(std::string title);

 private:
  std::string title_;
  std::unique_ptr<Device> host_;
  std::unique_ptr<Queue> host_queue_;
  Device& device_;
  Queue& queue_;
};

// A library is made of these: those in the host's memory need no device and no queue.
struct Surroundings {
  const DeviceInfo& info;
  Device* device;
  Queue* queue;
  std::size_t host_threads;
};

// Each file of a library makes it, or answers null where there is none of that title: cublasXt, cuBLAS, also
// in modes that multiply FP32 matrices in another way than FP32, and GEMMul8; and cublasLt.
using MakeLibrary = std::unique_ptr<ReferenceLibrary>(const std::string& title, const Surroundings& of);
MakeLibrary make_cublas, make_cublaslt, make_clblast;

// The libraries that there may be for a CPU. They work in the host's memory, whatever the device.
std::vector<std::string> titles_on_host();
bool works_on_host(const std::string& title);

// Why there is no library of that title for any device; empty where there is one.
std::string absence_of(const std::string& title);

// Says what keeps a library of that title, which names itself so, from its best kernels: variables of the
// environment, as OPENBLAS_CORETYPE asks OpenBLAS for another processor's; or, most likely, that its version
// is older than the processor. Nothing where nothing does.
std::optional<std::string> weak_kernels_warning(const std::string& title, const std::string& name);

// The library of that title; null where there is none or it has nothing to do with the device. Those that
// work in the host's memory do so on `host_threads` threads.
std::unique_ptr<ReferenceLibrary> make_library(const std::string& title, const Surroundings& of);

// They are as many as the device has cores if it is a CPU, and else as the host has.
std::size_t host_threads_beside(const DeviceInfo& info);

// The ladder is compared with this one: cuBLAS (true FP32) through CUDA, the first that there is for a CPU;
// null for others, or where there is none. `device` and `queue` must outlive it.
std::unique_ptr<ReferenceLibrary> main_library(Device& device, Queue& queue);

using ReferenceLibraries = std::vector<std::unique_ptr<ReferenceLibrary>>;

// Tells by its title whether a library takes part. The others are not opened, so that their threads are not
// there.
using Wanted = std::function<bool(const std::string& title)>;

// What multiplies FP32 matrices by other arithmetic than FP32. Through CUDA, cuBLAS in TF32, its own
// emulation of FP32 where this build's has it, as the yardstick of f16x3's speed a product of FP16 matrices
// with K three times as long, and GEMMul8.
ReferenceLibraries libraries_in_other_precisions(Device& device, Queue& queue, const Wanted& wanted);

// All that there are for the device, the main one first: cublasLt too through CUDA, and CLBlast for any
// OpenCL device.
ReferenceLibraries all_libraries(Device& device, Queue& queue, const Wanted& wanted);

// Those that work on plain arrays: cublasXt on a CUDA device, and those for a CPU.
ReferenceLibraries libraries_on_host(const DeviceInfo& device, const Wanted& wanted);

}  // namespace duogemm::bench
