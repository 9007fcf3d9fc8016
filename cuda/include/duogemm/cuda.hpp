// SGEMM on CUDA's own handles. C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "duogemm/sgemm.hpp"

// A stream of the CUDA runtime or driver: cudaStream_t and CUstream are pointers to it.
struct CUstream_st;

namespace duogemm::cuda {

// Puts the multiplication on the stream and returns: C is there when the stream has come past it. Once the
// same problem has been seen in this CUDA context, nothing is compiled and, once it has been seen on this
// stream, nothing is allocated and nothing waits; from then on the call can also be captured in a CUDA graph.
// a, b and c are device memory of the stream's context (for the null stream: of the current one). Any thread
// may call, also several at once on one stream.
//
// Throws Error: invalid_argument names what is wrong and nothing has been enqueued, and neither has it with
// out_of_memory; unsupported where there is no driver.
void sgemm(CUstream_st* stream, const Sgemm& problem, const float* a, const float* b, float* c);

// The same for problem.batch multiplications whose matrices lie anywhere: a, b and c are device memory that
// holds the device address of each, read when the commands run. The strides of the problem do not count.
void sgemm_batched(CUstream_st* stream, const Sgemm& problem, const float* const* a, const float* const* b,
                   float* const* c);

// Compiles what later calls in the stream's context may need, or finds it in the library or on disk: see
// Context::warm. Allocates the stream's first workspace. Nothing is put on the stream, which must not be
// captured meanwhile.
WarmUp warm(CUstream_st* stream);

// --- Workspace: device memory for what a call has to keep between its commands ---------------------------
//
// Some problems need it, and by default the library sees to it: it keeps a piece for each stream, for the 64
// that used it last, and replaces it when a call needs a larger one. The first is a 2048th of the device's
// memory (32 MiB of 80 GB, as cuBLAS has), so that few calls do. A caller who wants to know, or to limit,
// what is allocated supplies it instead.
//
// A CUDA graph goes on using the workspace of the calls that were captured in it. The library's piece for a
// stream stays allocated for the graphs captured there, as long as the CUDA context lives, but there is one:
// whoever launches such a graph while another graph captured on that stream, or a call on that stream, may
// run at the same time, supplies the workspace. A capture cannot allocate: unless the same call was made on
// the stream before, it supplies the workspace too, or fails with invalid_argument.

struct Workspace {
  void* pointer = nullptr;  // of the stream's context; a multiple of 256, as what cudaMalloc gives
  std::size_t bytes = 0;
};

// How many bytes the call with the same problem needs on the stream's device; 0 for many.
std::size_t sgemm_workspace_bytes(CUstream_st* stream, const Sgemm& problem);
std::size_t sgemm_batched_workspace_bytes(CUstream_st* stream, const Sgemm& problem);

// The calls above in the caller's workspace: nothing is allocated. What stands in it is lost. Calls on one
// stream may share it; on several streams, or in several graphs, each needs its own while its commands run.
// Throws invalid_argument also when it is too small or not aligned; null will do where no byte is needed.
void sgemm(CUstream_st* stream, const Sgemm& problem, const float* a, const float* b, float* c,
           Workspace workspace);
void sgemm_batched(CUstream_st* stream, const Sgemm& problem, const float* const* a, const float* const* b,
                   float* const* c, Workspace workspace);

// --- Bias ------------------------------------------------------------------------------------------------

// A value for each row of C (each column, where matrices are stored by rows), as a linear layer adds it.
struct Bias {
  const float* pointer = nullptr;
  std::int64_t stride = 0;  // from that of one member of a batch to that of the next; 0: all have the same
};

// C <- alpha op(A) op(B) + beta bias: as sgemm() where every column of C was the bias, but C is not read. The
// bias is no part of C. It needs as much workspace as sgemm() with the same problem; without any lent, in the
// library's own. Throws as sgemm() does.
void sgemm_with_bias(CUstream_st* stream, const Sgemm& problem, const float* a, const float* b, float* c,
                     Bias bias, const std::optional<Workspace>& workspace = {});

}  // namespace duogemm::cuda
