// Threads that help the calling ones with products that take those tens of microseconds.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace duogemm {

// A caller works on its own product, and never waits for a thread that has not begun to help: it takes
// whatever no other has taken. Where several call at once, the others share themselves out among their
// products, as far as there are cores. They leave the caller's core where they woke up on it. After each
// product they look out for the next for a while, and then sleep.
class WorkerThreads {
 public:
  // This many threads compute, those that call among them. The others start when a caller first needs one.
  explicit WorkerThreads(std::size_t threads) : threads_(threads) {}
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  using Compute = std::function<void(std::size_t item)>;  // must not throw

  // Returns when all items are computed.
  void compute(std::size_t items, const Compute& compute);

 private:
  struct Job {
    const Compute& compute;
    const std::size_t items;
    std::atomic<std::size_t> next = 0;
    std::atomic<std::size_t> helpers = 0;  // changes under the mutex

    void take_items() {
      for (std::size_t i = next++; i < items; i = next++) {
        compute(i);
      }
    }
  };

  void start();
  void help();
  Job* join();
  void leave(Job& job);
  void announce();

  std::mutex mutex_;  // of all that follows
  std::size_t threads_;
  std::vector<std::thread> workers_;
  std::vector<Job*> jobs_;
  std::size_t busy_ = 0;  // callers, and workers that help them
  bool ends_ = false;
  std::atomic<std::uint32_t> news_ = 0;  // changes when there may be something to help with
  std::atomic<int> caller_core_ = -1;    // of the last that called
  std::condition_variable told_;         // of news
  std::condition_variable left_;         // by a helper
};

}  // namespace duogemm
