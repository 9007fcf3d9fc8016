// The BLAS behind this library: it has what is not computed here.
#pragma once

namespace duogemm::blas {

// The function of that name, of the next library in the linker's order, or else of one that the program has
// loaded for itself, as Python does with what NumPy needs, or else of the system's BLAS. Null where there is
// none.
void* find_next(const char* name);

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(find_next(name));
}

}  // namespace duogemm::blas
