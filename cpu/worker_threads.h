// Threads that help the calling one with a product that takes it tens of microseconds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace duogemm {

// After each product they look out for the next for a while, and then sleep. The calling thread never waits
// for one that has not begun: it takes whatever no other has taken.
class WorkerThreads {
 public:
  // This many threads compute, the calling one among them. The others start with the first product.
  explicit WorkerThreads(std::size_t threads) : threads_(threads) {}
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  using Compute = std::function<void(std::size_t item)>;  // must not throw

  // Returns when all items are computed. Several callers take turns.
  void compute(std::size_t items, const Compute& compute);

 private:
  void start();
  void take_part();
  void take_items();

  static constexpr int closed = 1 << 30;

  std::size_t threads_;
  std::mutex one_at_a_time_;
  std::vector<std::thread> workers_;
  const Compute* compute_ = nullptr;
  std::size_t items_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<int> taking_part_ = closed;  // workers, or `closed` more when none may begin any more
  std::atomic<std::uint32_t> round_ = 0;
  std::atomic<bool> ends_ = false;
};

}  // namespace duogemm
