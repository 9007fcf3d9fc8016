// The cuBLAS and the cuBLASLt of the process, which have what is not computed here.
#pragma once

#include <atomic>
#include <span>

namespace duogemm::cublas {

// One of the two. A process may have loaded several versions of it; the one that is found or adopted first is
// the one that calls are passed on to.
class NextLibrary {
 public:
  // It has a function of the name `probe`. `files` are names that the system may know it by.
  NextLibrary(const char* probe, std::span<const char* const> files) : probe_(probe), files_(files) {}

  // Null where the library has none, or where there is no such library.
  void* find(const char* name);
  template <typename Function>
  Function* find_as(const char* name) {
    return reinterpret_cast<Function*>(find(name));
  }

  // Whether a function that a program has found for itself is of this library. The first is, whatever it is.
  bool adopts(void* function);

 private:
  const char* probe_;
  std::span<const char* const> files_;
  // Without a lock, which a thread in the dynamic linker and one in find() could each hold from the other.
  std::atomic<bool> searched_ = false;
  std::atomic<void*> handle_ = nullptr;
};

NextLibrary& next_cublas();
NextLibrary& next_cublaslt();

}  // namespace duogemm::cublas
