// The library behind this one, of which it hides some functions: it has what is not computed here.
#pragma once

#include <span>

namespace duogemm::blas {

// The function of that name, of the next library in the linker's order, or else of one that the program has
// loaded for itself, as Python does with what NumPy needs, or else of the first of `files` that has it and
// that the system can load. Null where there is none.
void* find_next(const char* name, std::span<const char* const> files);

}  // namespace duogemm::blas
