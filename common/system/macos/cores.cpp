#include "system/cores.h"

#include <mach/mach.h>
#include <sys/sysctl.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <optional>

namespace duogemm {
namespace {

// What sysctl(3) tells under this name.
std::optional<std::uint64_t> told_number(const char* name) {
  std::uint64_t value = 0;  // of four bytes or of eight, the low ones first
  std::size_t bytes = sizeof value;
  return sysctlbyname(name, &value, &bytes, nullptr, 0) == 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

// The system lets no process choose its cores: it has all of them.
std::vector<int> cores_of_process() {
  std::vector<int> cores(told_number("hw.activecpu").value_or(0));
  std::iota(cores.begin(), cores.end(), 0);
  return cores;
}
int current_core() { return -1; }
void stay_on_core(int) {}
void leave_core(int) {}

std::string processor_name() {
  std::array<char, 256> name{};
  std::size_t bytes = name.size() - 1;
  return sysctlbyname("machdep.cpu.brand_string", name.data(), &bytes, nullptr, 0) == 0 ? name.data() : "CPU";
}

std::size_t processor_mhz() { return told_number("hw.cpufrequency_max").value_or(0) / 1'000'000; }

// Of the fast cores, where there are others, too.
std::size_t cache_bytes(int level) {
  constexpr std::array<const char*, 3> of_fast = {"hw.perflevel0.l1dcachesize", "hw.perflevel0.l2cachesize",
                                                  "hw.perflevel0.l3cachesize"};
  constexpr std::array<const char*, 3> of_all = {"hw.l1dcachesize", "hw.l2cachesize", "hw.l3cachesize"};
  const auto index = static_cast<std::size_t>(level - 1);
  const std::optional<std::uint64_t> fast = told_number(of_fast[index]);
  return fast ? *fast : told_number(of_all[index]).value_or(0);
}

std::optional<std::size_t> free_memory_bytes(const std::filesystem::path&) {
  vm_statistics64_data_t pages{};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  if (host_statistics64(mach_host_self(), HOST_VM_INFO64, reinterpret_cast<host_info64_t>(&pages), &count) !=
      KERN_SUCCESS) {
    return std::nullopt;
  }
  return (std::size_t{pages.free_count} + pages.inactive_count) * vm_kernel_page_size;
}

}  // namespace duogemm
