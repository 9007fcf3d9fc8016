#include "system/cores.h"

#include <array>

#include "system/windows/win32.h"

namespace duogemm {
namespace {

// Of one group of processors, of which a process has one.
DWORD_PTR cores_mask() {
  DWORD_PTR of_process = 0;
  DWORD_PTR of_system = 0;
  return GetProcessAffinityMask(GetCurrentProcess(), &of_process, &of_system) != 0 ? of_process : 0;
}

constexpr int most_cores = 8 * sizeof(DWORD_PTR);

constexpr DWORD_PTR bit(int core) { return DWORD_PTR{1} << core; }

constexpr const wchar_t* first_processor = LR"(HARDWARE\DESCRIPTION\System\CentralProcessor\0)";

MEMORYSTATUSEX memory_status() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  GlobalMemoryStatusEx(&status);
  return status;
}

}  // namespace

std::vector<int> cores_of_process() {
  const DWORD_PTR mask = cores_mask();
  std::vector<int> cores;
  for (int core = 0; core < most_cores; ++core) {
    if ((mask & bit(core)) != 0) {
      cores.push_back(core);
    }
  }
  return cores;
}

int current_core() { return static_cast<int>(GetCurrentProcessorNumber()); }

void stay_on_core(int core) { SetThreadAffinityMask(GetCurrentThread(), bit(core)); }

void leave_core(int core) {
  if (core < 0 || core >= most_cores || current_core() != core) {
    return;
  }
  const DWORD_PTR others = cores_mask() & ~bit(core);
  const DWORD_PTR allowed = others != 0 ? SetThreadAffinityMask(GetCurrentThread(), others) : 0;
  if (allowed != 0) {
    SetThreadAffinityMask(GetCurrentThread(), allowed);
  }
}

std::string processor_name() {
  std::array<wchar_t, 128> name{};
  DWORD bytes = sizeof name;
  if (RegGetValueW(HKEY_LOCAL_MACHINE, first_processor, L"ProcessorNameString", RRF_RT_REG_SZ, nullptr,
                   name.data(), &bytes) != ERROR_SUCCESS) {
    return "CPU";
  }
  const std::string text = to_utf8(name.data());
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "CPU" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::size_t processor_mhz() {
  DWORD mhz = 0;
  DWORD bytes = sizeof mhz;
  return RegGetValueW(HKEY_LOCAL_MACHINE, first_processor, L"~MHz", RRF_RT_REG_DWORD, nullptr, &mhz,
                      &bytes) == ERROR_SUCCESS
             ? mhz
             : 0;
}

std::size_t cache_bytes(int level) {
  DWORD bytes = 0;
  GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> all(bytes / sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (all.empty() || GetLogicalProcessorInformation(all.data(), &bytes) == 0) {
    return 0;
  }
  for (const SYSTEM_LOGICAL_PROCESSOR_INFORMATION& each : all) {
    if (each.Relationship == RelationCache && each.Cache.Level == level &&
        each.Cache.Type != CacheInstruction) {
      return each.Cache.Size;
    }
  }
  return 0;
}

double load_average() { return 0.0; }

std::size_t host_memory_bytes() { return memory_status().ullTotalPhys; }

std::optional<std::size_t> free_memory_bytes(const std::filesystem::path&) {
  const std::size_t bytes = memory_status().ullAvailPhys;
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace duogemm
