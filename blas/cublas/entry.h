// A product that a program asks of cuBLAS, whether duogemm computes it, and the entry points that it comes
// through.
#pragma once

#include <cublas_api.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "duogemm/cuda.hpp"

namespace duogemm::cublas {

// Why a call is passed on to cuBLAS.
enum class Reason {
  types,       // other types than FP32
  arithmetic,  // TF32, pedantic, or an emulation
  scalars,     // of cublasLtMatmul: vectors of alpha or beta
  epilogue,    // of cublasLtMatmul, other than a bias, RELU and GELU
  form,        // of cublasLtMatmul: an order of elements, sizes
  judged,      // nothing to compute, or arguments for cuBLAS to judge
  failed,      // duogemm could not
};
inline constexpr int reasons = 7;

// The matrices of a batch are found in one of these ways.
enum class Batch { strides, lists };

struct Call {
  Sgemm problem;  // column-major; alpha and beta are set when the call is served
  const void* alpha;
  const void* beta;
  const void* a;
  const void* b;
  const void* c;  // written; the list of a batch is not
  Batch by = Batch::strides;
  bool device_scalars = false;   // alpha and beta are in device memory
  cuda::Epilogue epilogue = {};  // without alpha and beta
};

// What became of a call: why it was not served, if it was not, and whether it is part of a CUDA graph.
struct Outcome {
  std::optional<Reason> passed_on;
  bool captured = false;
};

// As NVIDIA's driver says, which is there when a handle of cuBLAS is.
bool is_capturing(cudaStream_t stream);

// Puts the call on the stream; where it cannot be done, nothing was enqueued. Within a capture it takes the
// workspace that the program has set, if that does.
Outcome serve(Call call, cudaStream_t stream, const cuda::Workspace& lent);

// The cuBLAS and the cuBLASLt of the process, which have what is not computed here.
// A process may have loaded several versions of it; the one that is found or adopted first is
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

// Counts the calls of this thread that cuBLAS is in: what it calls meanwhile is its own business.
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
