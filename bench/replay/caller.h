// Who multiplies in a replay: this library through its public calls, or another.
#pragma once

#include <memory>
#include <string>

#include "replay/trace.h"
#include "runtime/executor.h"
#include "support/device_choice.h"

namespace duogemm::bench {

class Caller {
 public:
  virtual ~Caller() = default;
  virtual std::string name() const = 0;  // with the version
  // One call; on a device, it has then been put on the queue.
  virtual void call(const TraceCall& call, const PreparedPlan::Operands& operands) = 0;
  // Gets ready for all calls of the device, where the library can.
  virtual void warm() {}
};

// A pass of a replay: who, where, and on which kind of memory.
struct Subject {
  std::string title;  // "duogemm", or that of a library as --against has it
  ChosenDevice device;
  CallMemory through;
  std::optional<Precision> precision;  // of all calls, in place of their own
  double choosing_s = 0.0;             // what asking the runtimes for their devices has taken

  bool ours() const { return title == own_title; }
  // OpenBLAS needs no device.
  bool needs_device() const { return title != "OpenBLAS"; }
  // Whether the operands are plain arrays.
  bool on_arrays() const { return ours() ? through == CallMemory::host : !needs_device(); }

  static constexpr const char* own_title = "duogemm";
};

// What a program does before its first call: makes the library's handle, or whatever it has. `device` and
// `queue` are where the operands are: the subject's device, or the host.
std::unique_ptr<Caller> make_caller(const Subject& subject, Device& device, Queue& queue);

// Of this build's libraries.
bool build_has(const std::string& title);

// Ours on the handles of one runtime.
std::unique_ptr<Caller> make_opencl_caller(Queue& queue);
std::unique_ptr<Caller> make_cuda_caller(Queue& queue);

}  // namespace duogemm::bench
