#include "machine/gpu_watch.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "system/shared_library.h"

namespace duogemm::bench {
namespace {

// Calls a function of NVIDIA's management library (NVML API reference, "Device Queries"), whose header an
// OpenCL build does not have; false where there is none, or it fails.
template <typename... Arguments>
bool call(const char* name, Arguments... arguments) {
  static const SharedLibrary library({"libnvidia-ml.so.1"});
  int (*function)(Arguments...) = nullptr;
  return library.find(name, function) && function(arguments...) == 0;
}

}  // namespace

std::optional<GpuState> query_gpu(const std::string& pci_bus) {
  constexpr unsigned clock_sm = 1;
  constexpr unsigned clock_memory = 2;
  constexpr unsigned temperature_gpu = 0;
  // nvmlClocksThrottleReasons: the software's and the hardware's limits.
  constexpr unsigned long long slowed_by_power = 0x4 | 0x80;
  constexpr unsigned long long slowed_by_temperature = 0x20 | 0x40;
  static const bool ready = call("nvmlInit_v2");
  struct nvmlDevice_st* device = nullptr;
  if (pci_bus.empty() || !ready || !call("nvmlDeviceGetHandleByPciBusId_v2", pci_bus.c_str(), &device)) {
    return std::nullopt;
  }
  GpuState state;
  char driver[80] = "";
  unsigned milliwatts = 0;
  unsigned long long reasons = 0;
  call("nvmlSystemGetDriverVersion", &driver[0], static_cast<unsigned>(sizeof driver));
  call("nvmlDeviceGetClockInfo", device, clock_sm, &state.sm_mhz);
  call("nvmlDeviceGetClockInfo", device, clock_memory, &state.memory_mhz);
  call("nvmlDeviceGetTemperature", device, temperature_gpu, &state.temperature_c);
  call("nvmlDeviceGetPowerUsage", device, &milliwatts);
  call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &reasons);
  state.driver = driver;
  state.power_w = milliwatts / 1000.0;
  state.slowed_by = reasons & slowed_by_power         ? "power"
                    : reasons & slowed_by_temperature ? "temperature"
                                                      : "";
  return state;
}

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
