// What drop-in libraries share: what stands behind them, and what the environment permits them.
#pragma once

#include <span>

#include "duogemm/sgemm.hpp"

namespace duogemm::blas {

// The function of that name, of the next library in the linker's order, or else of one that the program has
// loaded for itself, as Python does with what NumPy needs, or else of the first of `files` that has it and
// that the system can load. Null where there is none.
void* find_next(const char* name, std::span<const char* const> files);

// What DUOGEMM_PRECISION names, as callers cannot say it. One that is none is complained about, and is fp32.
Precision permitted_precision();

}  // namespace duogemm::blas
