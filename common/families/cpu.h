// A multiplication is divided on a CPU into blocks that fit its registers and caches.
#pragma once

#include "families/kernel_spec.h"

namespace duogemm {

// The block of C that a core keeps in registers: WIDTH, VECTORS and COLS of the kernels for CPUs. They
// are those that were measured, if any were.
Tunables cpu_registers(const DeviceInfo& device, const Tunables& measured);

// Throws invalid_argument where no kernel for CPUs has such.
void require_cpu_registers(const Tunables& registers);

// The same with what of operands and sums stays in a core's caches: all tunables of `cpu_panels` that the
// problem leaves open.
Tunables cpu_blocks(const DeviceInfo& device, const Tunables& registers);

// Answers how many cores should share a product: all that the device has, or a single one where that is done
// before the others have begun.
std::size_t cores_for(const Problem& problem, const DeviceInfo& device);

// The problem whose result is the transpose of C: op(B)' op(A)'.
Problem transposed(Problem problem);

}  // namespace duogemm
