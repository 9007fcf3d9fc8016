// A kernel file for the host. The build defines its tunables, KERNEL_FILE, its path under kernels/, KERNEL,
// its name, and EMULATED_AS, the name under which kernels() has it.
#include <cstring>
#include <utility>

#include "emulation/dialect.h"
#include "emulation/tensor_cores.h"

namespace {

#include KERNEL_FILE

template <typename Struct, typename... Elements, std::size_t... indices>
void run_kernel(void (*kernel)(Struct, Elements*...), std::index_sequence<indices...>,
                const std::array<std::size_t, 3>& groups, const std::vector<void*>& pointers,
                const void* arguments) {
  std::remove_const_t<Struct> own;
  std::memcpy(&own, arguments, sizeof own);
  duogemm::emulation::run(groups, WORK_ITEMS,
                          [&] { kernel(own, static_cast<Elements*>(pointers.at(indices))...); });
}

template <typename Struct, typename... Elements>
auto indices_of(void (*)(Struct, Elements*...)) {
  return std::index_sequence_for<Elements...>();
}

[[maybe_unused]] const bool is_known =
    duogemm::emulation::kernels()
        .emplace(EMULATED_AS,
                 [](const auto& groups, const auto& pointers, const void* arguments) {
                   run_kernel(KERNEL, indices_of(KERNEL), groups, pointers, arguments);
                 })
        .second;

}  // namespace
