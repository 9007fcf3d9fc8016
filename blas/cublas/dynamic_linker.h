// dlsym, as this library exports it. What a program looks up in a cuBLAS that it has opened for itself, as
// JAX does, would be cuBLAS's own function, and LD_PRELOAD no help: this dlsym answers with the function of
// the same name that this library has. Everything else goes on to the dynamic linker.
#pragma once

namespace duogemm::cublas {

// While one lives, its thread's calls of dlsym all go on to the dynamic linker.
class Uninterposed {
 public:
  Uninterposed();
  ~Uninterposed();
  Uninterposed(const Uninterposed&) = delete;
  Uninterposed& operator=(const Uninterposed&) = delete;
};

}  // namespace duogemm::cublas
