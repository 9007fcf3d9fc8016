// A work-group on the host: each work-item has a stack of its own, and they take turns wherever one waits for
// others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace duogemm::emulation {

// Runs `kernel` for every work-item of every work-group, one work-group after the other. Throws
// std::logic_error where some work-items wait for others that have ended.
void run(const std::array<std::size_t, 3>& groups, std::size_t work_items,
         const std::function<void()>& kernel);

// Kernel files that the build has compiled for the host, with some tunables each (see kernel.cpp), by the
// name that the build gave them: work-groups; what the parameters that are pointers point to, in their order;
// and the struct of the others.
using RunKernel = void (*)(const std::array<std::size_t, 3>& groups, const std::vector<void*>& pointers,
                           const void* numbers);
std::map<std::string, RunKernel>& kernels();

// --- What a kernel asks for, within run() -----------------------------------------------------------------
std::size_t item();
std::size_t group(int dimension);
std::size_t groups(int dimension);
void barrier();

// Copies are done when they are waited for, and not before.
void begin_copy(void* to, const void* from, std::size_t bytes);
void commit_copies();
void await_copies(std::size_t pending);

// The low half of an address, whose other half is the same for all local memory.
std::uint32_t local_address(const void* pointer);

// All 32 work-items of a sub-group together (see compat/tensor_cores.h).
void load_fragment(std::uint32_t* fragment, std::uint32_t from);
void multiply_block(float (*value_of)(std::uint32_t), float* c, const std::uint32_t* a,
                    const std::uint32_t* b);
void sub_group_barrier();
bool any_in_sub_group(bool condition);
std::uint32_t sub_group_max(std::uint32_t value);

std::uint32_t bits_of_F16(float value);
std::uint32_t bits_of_BF16(float value);
float value_of_F16(std::uint32_t bits);
float value_of_BF16(std::uint32_t bits);

}  // namespace duogemm::emulation
