// A kernel file for the host. The build defines its tunables, KERNEL_FILE, its path under kernels/, KERNEL,
// its name, KERNEL_LIST, the list of its parameters, and EMULATED_AS, the name under which kernels() has it.
#include <cstring>

#include "emulation/dialect.h"
#include "emulation/kernels.h"
#include "emulation/tensor_cores.h"

namespace {

#include KERNEL_FILE

#define NUMBERS_NAME(list) list##_NUMBERS
#define NUMBERS_TYPE(list) NUMBERS_NAME(list)
#define MEMBER_POINTER(type, name) type* name;
#define TAKEN_POINTER(type, name) static_cast<type*>(pointers.at(next++)),
#define PASSED_POINTER(type, name) own.name,

struct Pointers {
  KERNEL_LIST(MEMBER_POINTER, DUOGEMM_NO_NUMBER, DUOGEMM_NO_NUMBER)
};

void run_kernel(const std::array<std::size_t, 3>& groups, const std::vector<void*>& pointers,
                const void* numbers) {
  NUMBERS_TYPE(KERNEL_LIST) p;
  std::memcpy(&p, numbers, sizeof p);
  std::size_t next = 0;
  const Pointers own = {KERNEL_LIST(TAKEN_POINTER, DUOGEMM_NO_NUMBER, DUOGEMM_NO_NUMBER)};
  duogemm::emulation::run(groups, WORK_ITEMS, [&] {
    KERNEL(KERNEL_LIST(PASSED_POINTER, DUOGEMM_NO_NUMBER, DUOGEMM_NO_NUMBER) p);
  });
}

[[maybe_unused]] const bool is_known = duogemm::emulation::kernels().emplace(EMULATED_AS, run_kernel).second;

}  // namespace
