// A device in use: its compiled programs and the plans of recent calls. Everything that multiplies goes
// through here.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "executor.h"

namespace duogemm {

class Runtime {
 public:
  explicit Runtime(std::unique_ptr<Device> device, DiskCache disk = DiskCache(cache_directory()))
      : device_(std::move(device)), programs_(*device_, std::move(disk)) {}

  Device& device() { return *device_; }

  // Puts the multiplication on the queue. The first call of its kind compiles and plans; once the same
  // problem has been seen, nothing is compiled, planned or allocated on the device. Any thread may call, each
  // with a queue of its own.
  void enqueue(const Problem& problem, Queue& queue, const PreparedPlan::Operands& operands);

 private:
  struct Before {
    bool operator()(const Problem& a, const Problem& b) const;
  };
  std::shared_ptr<const PreparedPlan> plan_for(const Problem& problem);

  std::unique_ptr<Device> device_;
  ProgramCache programs_;
  std::mutex mutex_;
  std::map<Problem, std::shared_ptr<const PreparedPlan>, Before> plans_;
};

}  // namespace duogemm
