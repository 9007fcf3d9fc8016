// An entry point of cuBLAS that this library hides: the function behind it, and what became of its calls.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "call.h"
#include "library.h"

namespace duogemm::cublas {

// How many calls of this thread cuBLAS is in: what it calls meanwhile is its own business.
extern thread_local int calls_in_cublas;

// One for each entry point, for as long as the process lives. With DUOGEMM_LOG, a process that ends says of
// each how many calls were served, and why the others were not.
class Entry {
 public:
  Entry(NextLibrary& library, const char* name);

  void count_served() { served_.fetch_add(1, std::memory_order_relaxed); }

  void count_forwarded(Reason reason) {
    forwarded_[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  }

  // Has cuBLAS compute the call. The arguments are of the types that the entry point's parameters have.
  template <typename... Arguments>
  cublasStatus_t pass(Arguments... arguments) {
    using Function = cublasStatus_t (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(next());
    if (function == nullptr) {
      return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    ++calls_in_cublas;
    const cublasStatus_t status = function(arguments...);
    --calls_in_cublas;
    return status;
  }

  std::uint64_t calls() const;
  // Writes the line about this entry point, if it was called.
  void log() const;
  const Entry* before() const { return before_; }

 private:
  void* next();

  NextLibrary& library_;
  const char* name_;
  std::atomic<void*> next_ = nullptr;
  std::atomic<std::uint64_t> served_ = 0;
  std::array<std::atomic<std::uint64_t>, reasons> forwarded_ = {};
  const Entry* before_;  // of the list of all
};

}  // namespace duogemm::cublas
