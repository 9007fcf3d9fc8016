// A device in use: its compiled programs, the plans of recent calls and their workspaces. Everything that
// multiplies goes through here.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "queue_workspaces.h"

namespace duogemm {

class Runtime {
 public:
  explicit Runtime(std::unique_ptr<Device> device, DiskCache disk = DiskCache(cache_directory()))
      : device_(std::move(device)), programs_(*device_, std::move(disk)), workspaces_(*device_) {}

  Device& device() { return *device_; }

  // Puts the multiplication on the queue. The first call of its kind compiles and plans; once the same
  // problem has been seen, nothing is compiled or planned, and once it has been seen on this queue, nothing
  // is allocated on the device. Any thread may call. Throws as PreparedPlan and QueueWorkspaces do.
  void enqueue(const Problem& problem, Queue& queue, const PreparedPlan::Operands& operands,
               const std::optional<LentWorkspace>& lent = {});

  // How many bytes of workspace `enqueue` needs.
  std::size_t workspace_bytes(const Problem& problem) const;

 private:
  struct Before {
    bool operator()(const Problem& a, const Problem& b) const;
  };
  std::shared_ptr<const PreparedPlan> plan_for(const Problem& problem);

  std::unique_ptr<Device> device_;
  ProgramCache programs_;
  QueueWorkspaces workspaces_;
  std::mutex mutex_;
  std::map<Problem, std::shared_ptr<const PreparedPlan>, Before> plans_;
};

}  // namespace duogemm
