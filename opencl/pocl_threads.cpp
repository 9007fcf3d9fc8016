#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "pocl.h"

namespace duogemm::opencl {
namespace {

// Longer than any thread takes to wake up; where one does not come, all stay as they are.
constexpr std::chrono::milliseconds patience{200};

std::vector<int> cores_of_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) {
        cores.push_back(core);
      }
    }
  }
  return cores;
}

// Where the threads meet: each stays in its native kernel until all have come, so that none has two.
class Meeting {
 public:
  explicit Meeting(std::vector<int> cores) : cores_(std::move(cores)) {}

  void attend() {
    std::unique_lock lock(mutex_);
    const std::size_t place = present_++;
    if (present_ == cores_.size()) {
      all_here_.notify_all();
    }
    if (all_here_.wait_for(lock, patience, [&] { return present_ == cores_.size(); })) {
      cpu_set_t own;
      CPU_ZERO(&own);
      CPU_SET(cores_[place], &own);
      sched_setaffinity(0, sizeof own, &own);  // of this thread; if it fails, nothing is lost
    }
  }

 private:
  const std::vector<int> cores_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::size_t present_ = 0;
};

void CL_CALLBACK attend(void* arguments) { (*static_cast<Meeting**>(arguments))->attend(); }

bool first_time(cl_device_id device) {
  static std::mutex mutex;
  static std::set<cl_device_id> seen;
  const std::lock_guard lock(mutex);
  return seen.insert(device).second;
}

}  // namespace

void keep_threads_apart(const cl::Context& context, const cl::Device& device, std::size_t threads) {
  std::vector<int> cores = cores_of_process();
  const bool runs_native = device.getInfo<CL_DEVICE_EXECUTION_CAPABILITIES>() & CL_EXEC_NATIVE_KERNEL;
  if (std::getenv("POCL_AFFINITY") != nullptr || !runs_native || threads < 2 || cores.size() != threads ||
      !first_time(device())) {
    return;
  }
  Meeting meeting(std::move(cores));
  Meeting* argument = &meeting;
  std::vector<cl::CommandQueue> queues;  // one for each: the commands of a queue come one after the other
  // The C++ function of some versions of opencl.hpp follows the null pointers that stand for no buffers.
  const std::vector<cl::Memory> no_buffers;
  const std::vector<const void*> no_places;
  try {
    for (std::size_t i = 0; i < threads; ++i) {
      queues.emplace_back(context, device);
      queues.back().enqueueNativeKernel(attend, {&argument, sizeof argument}, &no_buffers, &no_places);
    }
  } catch (const cl::Error&) {
    // Those that have come wait for a while and stay as they are.
  }
  for (const cl::CommandQueue& queue : queues) {
    queue.finish();
  }
}

}  // namespace duogemm::opencl
