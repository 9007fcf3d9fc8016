// SGEMM on CUDA's own handles.
#pragma once

#include "duogemm/sgemm.hpp"

// A stream of the CUDA runtime or driver: cudaStream_t and CUstream are pointers to it.
struct CUstream_st;

namespace duogemm::cuda {

// Puts the multiplication on the stream and returns: C is there when the stream has come past it. Nothing
// waits and, once the same problem has been seen in this CUDA context, nothing is compiled or allocated; from
// then on the call can also be captured in a CUDA graph. a, b and c are device memory of the stream's context
// (for the null stream: of the current one). Any thread may call, also several at once on one stream.
//
// Throws Error: invalid_argument names what is wrong and nothing has been enqueued; unsupported where there
// is no driver.
void sgemm(CUstream_st* stream, const Sgemm& problem, const float* a, const float* b, float* c);

// The same for problem.batch multiplications whose matrices lie anywhere: a, b and c are device memory that holds the
// device address of each, read when the commands run. The strides of the problem do not count.
void sgemm_batched(CUstream_st* stream, const Sgemm& problem, const float* const* a, const float* const* b,
                   float* const* c);

}  // namespace duogemm::cuda
