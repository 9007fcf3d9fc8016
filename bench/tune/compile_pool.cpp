#include "tune/compile_pool.h"

#include <chrono>

namespace duogemm::bench {

CompilePool::CompilePool(ProgramCache& programs, unsigned threads) : programs_(programs) {
  for (unsigned i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

CompilePool::~CompilePool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void CompilePool::add(Job job) {
  ++pending_;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(job));
  }
  changed_.notify_all();
}

std::optional<CompilePool::Job> CompilePool::take(double seconds) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return !done_.empty(); });
  if (done_.empty()) {
    return std::nullopt;
  }
  Job job = std::move(done_.front());
  done_.pop_front();
  --pending_;
  return job;
}

void CompilePool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (ending_) {
      return;
    }
    Job job = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      programs_.get(variant_of(*job.spec, job.tunables));
    } catch (const std::exception& error) {
      job.failure = error.what();
    }
    lock.lock();
    done_.push_back(std::move(job));
    changed_.notify_all();
  }
}

}  // namespace duogemm::bench
