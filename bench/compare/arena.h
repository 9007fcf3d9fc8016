// Where the contenders of a comparison meet: a device with its queue, the libraries there are for it, and the
// conditions under which all of them are timed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "references/own_library.h"
#include "support/device_choice.h"
#include "timing/cold_caches.h"

namespace duogemm::bench {

struct Conditions {
  bool cold = false;   // operands come from memory, not from a cache
  bool graph = false;  // through CUDA, the executions within a sample are one graph
  Through through = Through::device;
  std::optional<std::size_t> device_memory = {};  // the limit for ours on plain arrays, in bytes
  std::size_t callers = 1;                        // threads that call at once, on plain arrays
  // What ours may compute with. With another than fp32, libraries take part in other precisions too.
  Precision precision = Precision::fp32;
  std::vector<std::string> kernels = {};            // folders, with whose kernels ours takes part once more
  std::optional<std::vector<std::string>> against;  // titles of libraries; all when not given
};

class Arena {
 public:
  // devices: how many take part in the comparison, this one included.
  Arena(const ChosenDevice& chosen, const Conditions& conditions, std::size_t devices = 1);

  Runtime& runtime() { return runtime_; }
  Device& device() { return runtime_.device(); }
  std::size_t devices() const { return devices_; }
  const DeviceInfo& info() { return device().info(); }
  Queue& queue() { return *queue_; }
  // Ours, as the conditions say that it is called.
  ReferenceLibrary& own() { return *own_; }
  const std::vector<std::unique_ptr<ReferenceLibrary>>& libraries() const { return libraries_; }

  // Whether samples on the queue are graphs.
  bool records(const Queue& queue) const { return graph_ && &queue == queue_.get(); }
  // How many sets of operands of that many bytes the executions within a sample take in turn.
  // Callers at once have one each.
  std::size_t sets(std::size_t bytes) { return cold_ ? ColdCaches::sets(bytes, info()) : callers_; }
  std::size_t callers() const { return callers_; }
  // Before a sample: leaves nothing of the operands in a cache when they are to be cold.
  void clear_caches();
  // Device memory in use besides operands and workspaces.
  std::size_t own_bytes() { return cold_ ? ColdCaches::bytes(info()) : 0; }

 private:
  Runtime runtime_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<ReferenceLibrary> own_;
  std::vector<std::unique_ptr<ReferenceLibrary>> libraries_;
  const bool graph_;
  const std::size_t devices_;
  const std::size_t callers_;
  std::optional<ColdCaches> cold_;  // only when operands are to be cold
};

}  // namespace duogemm::bench
