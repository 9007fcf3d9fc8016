#include "worker_threads.h"

#include <chrono>
#include <system_error>

namespace duogemm {
namespace {

// Waits for another value than `old`: at first without sleeping, because to be woken up takes as long as a
// small product, but letting the thread that is waited for go first where both share a core.
template <typename Value>
void await_change(const std::atomic<Value>& value, Value old) {
  constexpr std::chrono::microseconds watch{50};
  const auto end = std::chrono::steady_clock::now() + watch;
  while (value == old && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  value.wait(old);
}

}  // namespace

WorkerThreads::~WorkerThreads() {
  ends_ = true;
  ++round_;
  round_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void WorkerThreads::compute(std::size_t items, const Compute& compute) {
  const std::lock_guard lock(one_at_a_time_);
  start();
  compute_ = &compute;
  items_ = items;
  next_ = 0;
  taking_part_ = 0;
  ++round_;
  round_.notify_all();
  take_items();
  for (int left = taking_part_ |= closed; left != closed; left = taking_part_) {
    await_change(taking_part_, left);
  }
}

// As many as the system lets start.
void WorkerThreads::start() {
  try {
    while (workers_.size() + 1 < threads_) {
      workers_.emplace_back([this] {
        for (std::uint32_t round = 0; !ends_;) {
          await_change(round_, round);
          round = round_;  // before it takes part: the next may begin as soon as it has
          take_part();
        }
      });
    }
  } catch (const std::system_error&) {
    threads_ = workers_.size() + 1;
  }
}

void WorkerThreads::take_part() {
  int others = taking_part_;
  while ((others & closed) == 0) {
    if (taking_part_.compare_exchange_weak(others, others + 1)) {
      take_items();
      --taking_part_;
      taking_part_.notify_all();
      return;
    }
  }
}

void WorkerThreads::take_items() {
  for (std::size_t i = next_++; i < items_; i = next_++) {
    (*compute_)(i);
  }
}

}  // namespace duogemm
