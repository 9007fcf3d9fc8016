#include "worker_threads.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "system/cores.h"
#include "system/stack.h"

namespace duogemm {
namespace {

// Waits without sleeping, because to be woken up takes as long as a small product, but lets the thread that
// is waited for go first where both share a core. Gives up after a while.
template <typename Condition>
void watch_for(const Condition& condition, std::chrono::microseconds watch) {
  const auto end = std::chrono::steady_clock::now() + watch;
  while (!condition() && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
}

constexpr std::chrono::microseconds until_callers_sleep{50};
// Longer than a product that a single core computes because no other wakes up in time, which may take it 0.1
// ms on a virtual machine: with the next product it would be the same again.
constexpr std::chrono::microseconds until_workers_sleep{500};

// For any program, whose local memory is there. Windows gives threads 2 MiB.
constexpr std::size_t stack_of_worker = std::size_t{4} << 20;

}  // namespace

WorkerThreads::~WorkerThreads() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    announce();
  }
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void WorkerThreads::compute(std::size_t items, const Compute& compute) {
  Job job{compute, items};
  {
    const std::lock_guard lock(mutex_);
    start();
    ++busy_;
    jobs_.push_back(&job);
    caller_core_ = current_core();
    announce();
  }
  job.take_items();
  {
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, &job);
    --busy_;
    if (!jobs_.empty()) {
      announce();  // there is a core for one more
    }
  }
  watch_for([&] { return job.helpers == 0; }, until_callers_sleep);
  std::unique_lock lock(mutex_);
  left_.wait(lock, [&] { return job.helpers == 0; });
}

// As many as the system lets start.
void WorkerThreads::start() {
  try {
    while (workers_.size() + 1 < threads_) {
      workers_.emplace_back([this] { call_with_stack(stack_of_worker, [this] { help(); }); });
    }
  } catch (const std::system_error&) {
    threads_ = workers_.size() + 1;
  }
}

void WorkerThreads::help() {
  for (std::uint32_t known = news_;;) {
    // The system may have woken this thread where the caller is, while other cores are idle.
    leave_core(caller_core_);
    while (Job* const job = join()) {
      job->take_items();
      leave(*job);
    }
    watch_for([&] { return news_ != known; }, until_workers_sleep);
    std::unique_lock lock(mutex_);
    told_.wait(lock, [&] { return news_ != known || ends_; });
    known = news_;
    if (ends_) {
      return;
    }
  }
}

// The one with the fewest helpers of those that have something left.
WorkerThreads::Job* WorkerThreads::join() {
  const std::lock_guard lock(mutex_);
  Job* found = nullptr;
  if (busy_ < threads_) {
    for (Job* job : jobs_) {
      if (job->next < job->items && (found == nullptr || job->helpers < found->helpers)) {
        found = job;
      }
    }
  }
  if (found != nullptr) {
    ++found->helpers;
    ++busy_;
  }
  return found;
}

// The job may be gone as soon as nobody helps any more.
void WorkerThreads::leave(Job& job) {
  const std::lock_guard lock(mutex_);
  --busy_;
  if (--job.helpers == 0) {
    left_.notify_all();
  }
}

void WorkerThreads::announce() {
  ++news_;
  told_.notify_all();
}

}  // namespace duogemm
