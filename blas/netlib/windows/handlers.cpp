#include "handlers.h"

#include "system/loaded_libraries.h"

namespace duogemm::blas {

Xerbla* find_xerbla() { return reinterpret_cast<Xerbla*>(find_in_process("xerbla_")); }
CblasXerbla* find_cblas_xerbla() { return reinterpret_cast<CblasXerbla*>(find_in_process("cblas_xerbla")); }

}  // namespace duogemm::blas
