#include "system/this_process.h"

#include <array>
#include <cstddef>

#include "system/windows/win32.h"

namespace duogemm {

long process_id() { return static_cast<long>(GetCurrentProcessId()); }

std::string program_name() { return program_file().filename().string(); }

std::filesystem::path program_file() {
  std::array<wchar_t, 4096> name{};
  const DWORD length = GetModuleFileNameW(nullptr, name.data(), static_cast<DWORD>(name.size()));
  return length < name.size() ? name.data() : L"";
}

bool threads_run_at_exit() { return false; }

// Windows has no fork(2).
void* memory_shared_by_forks(std::size_t bytes) { return new std::byte[bytes](); }
void call_around_forks(void (*)(), void (*)(), void (*)()) {}

}  // namespace duogemm
