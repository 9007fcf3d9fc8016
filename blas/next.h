// What drop-in libraries share: what stands behind them, and what the environment permits them.
#pragma once

#include <span>

#include "duogemm/sgemm.hpp"

namespace duogemm::blas {

// The function of that name, of the next library in the linker's order, or else of one that the program has
// loaded for itself, as Python does with what NumPy needs, or else of the first of `files` that has it and
// that the system can load. Null where there is none.
void* find_next(const char* name, std::span<const char* const> files);

// What DUOGEMM_PRECISION and DUOGEMM_LEVEL ask for, as callers cannot say it; asked once. What cannot be is
// complained about, and fp32 or run_to_run.
struct Asked {
  Precision precision = Precision::fp32;
  Reproducibility level = Reproducibility::run_to_run;
};
const Asked& asked_by_environment();

}  // namespace duogemm::blas
