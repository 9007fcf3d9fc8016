#include "machine/gpu_watch.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace duogemm::bench {

bool GpuWatch::look() {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
  const std::optional<GpuState> state = query_gpu(pci_bus_);
  if (state) {
    moments_.push_back({since.count(), *state});
  }
  return state.has_value();
}

void GpuWatch::during(const std::function<void()>& work) {
  if (!look()) {
    work();
    return;
  }
  // Waits on a condition and not for a time, so that it ends with the work; `work` may throw.
  std::mutex mutex;
  std::condition_variable_any ended;
  std::jthread watcher([&](std::stop_token stop) {
    constexpr std::chrono::milliseconds pause(100);
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) {
      look();
    }
  });
  work();
  watcher.request_stop();
  watcher.join();
  look();
}

}  // namespace duogemm::bench
