#include "machine/gpu_watch.h"

#include <dlfcn.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace duogemm::bench {
namespace {

// The part of nvml.h in use, which an OpenCL build does not have (NVML API reference, "Device Queries").
using NvmlDevice = struct nvmlDevice_st*;
constexpr int nvml_success = 0;
constexpr unsigned clock_sm = 1;
constexpr unsigned clock_memory = 2;
constexpr unsigned temperature_gpu = 0;
// nvmlClocksThrottleReasons: the software's and the hardware's limits.
constexpr unsigned long long slowed_by_power = 0x4 | 0x80;
constexpr unsigned long long slowed_by_temperature = 0x20 | 0x40;

class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    ready_ = library_ != nullptr && find("nvmlInit_v2", init) &&
             find("nvmlDeviceGetHandleByPciBusId_v2", handle_by_bus) &&
             find("nvmlSystemGetDriverVersion", driver_version) &&
             find("nvmlDeviceGetClockInfo", clock_info) && find("nvmlDeviceGetTemperature", temperature) &&
             find("nvmlDeviceGetPowerUsage", power_usage) &&
             find("nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons) && init() == nvml_success;
  }
  bool ready() const { return ready_; }

  int (*handle_by_bus)(const char*, NvmlDevice*) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*clock_info)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*power_usage)(NvmlDevice, unsigned*) = nullptr;
  int (*throttle_reasons)(NvmlDevice, unsigned long long*) = nullptr;

 private:
  template <typename Function>
  bool find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    return function != nullptr;
  }

  void* library_;
  bool ready_ = false;
  int (*init)() = nullptr;
};

}  // namespace

std::optional<GpuState> query_gpu(const std::string& pci_bus) {
  static const Nvml nvml;
  NvmlDevice device = nullptr;
  if (pci_bus.empty() || !nvml.ready() || nvml.handle_by_bus(pci_bus.c_str(), &device) != nvml_success) {
    return std::nullopt;
  }
  GpuState state;
  char driver[80] = "";
  unsigned milliwatts = 0;
  nvml.driver_version(driver, sizeof driver);
  nvml.clock_info(device, clock_sm, &state.sm_mhz);
  nvml.clock_info(device, clock_memory, &state.memory_mhz);
  nvml.temperature(device, temperature_gpu, &state.temperature_c);
  nvml.power_usage(device, &milliwatts);
  state.driver = driver;
  state.power_w = milliwatts / 1000.0;
  unsigned long long reasons = 0;
  nvml.throttle_reasons(device, &reasons);
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
