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

  void count(const Outcome& outcome) {
    Counts& counts = counts_[outcome.captured ? 1 : 0];
    auto& count =
        outcome.passed_on ? counts.passed_on[static_cast<std::size_t>(*outcome.passed_on)] : counts.served;
    count.fetch_add(1, std::memory_order_relaxed);
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
  // Writes a line about the calls of this entry point, and one about those captured, if any were.
  void log() const;
  const Entry* before() const { return before_; }

 private:
  void* next();

  NextLibrary& library_;
  const char* name_;
  std::atomic<void*> next_ = nullptr;
  struct Counts {
    std::atomic<std::uint64_t> served = 0;
    std::array<std::atomic<std::uint64_t>, reasons> passed_on = {};
    std::uint64_t all() const;
  };
  std::array<Counts, 2> counts_;  // of calls, and of those that were captured
  const Entry* before_;           // of the list of all
};

}  // namespace duogemm::cublas
