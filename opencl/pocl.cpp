#include "pocl.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <set>
#include <vector>

#include "system/cores.h"
#include "system/file.h"
#include "system/folders.h"

namespace duogemm::opencl {
namespace {

namespace fs = std::filesystem;

constexpr const char* name_another = "name another folder by the environment variable POCL_CACHE_DIR";

// "PoCL's cache (/root/.cache/pocl/kcache)"
std::string cache_and_folder() {
  const fs::path folder = pocl_cache_directory();
  return "PoCL's cache" + (folder.empty() ? "" : " (" + folder.string() + ")");
}

// The folder, or else the nearest above it that is there, in which it would be made.
fs::path existing_folder() {
  fs::path folder = pocl_cache_directory();
  std::error_code ignored;
  while (!folder.empty() && !fs::exists(folder, ignored) && folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

// Longer than any thread takes to wake up; where one does not come, all stay as they are.
constexpr std::chrono::milliseconds patience{200};

// The threads meet here: each stays in its native kernel until all have come, so that none has two.
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
      stay_on_core(cores_[place]);
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

fs::path pocl_cache_directory() { return user_directory("POCL_CACHE_DIR", UserFolder::cache, "pocl/kcache"); }

// A folder for each program, in it one for each kernel, and in that one for each size of work-group.
std::size_t kernels_kept_by_pocl() {
  std::error_code nothing_there;
  std::size_t count = 0;
  for (fs::recursive_directory_iterator entry(pocl_cache_directory(), nothing_there), end; entry != end;
       entry.increment(nothing_there)) {
    count += entry->path().extension() == ".so";
  }
  return count;
}

void require_room_in_pocl_cache() {
  constexpr std::uintmax_t largest_program = std::uintmax_t{2} << 20;
  std::error_code failure;
  const fs::space_info space = fs::space(existing_folder(), failure);
  if (!failure && space.available < largest_program) {
    throw Error(Status::build_failed,
                "OpenCL: " + cache_and_folder() + " has " + std::to_string(space.available >> 10) +
                    " KiB left, which is too little for a program: make room, or " + name_another);
  }
}

std::string pocl_cache_obstacle() {
  const fs::path folder = existing_folder();
  std::error_code ignored;
  if (folder.empty() || (fs::is_directory(folder, ignored) && may_write(folder))) {
    return {};
  }
  return cache_and_folder() + " cannot be written, and PoCL has no device without it: " + name_another;
}

std::unique_lock<std::mutex> exclusive_use_of_pocl() {
  static std::mutex at_work;
  return std::unique_lock(at_work);
}

std::string pocl_cache_remedy() { return "remove " + cache_and_folder() + ", or " + name_another; }

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
