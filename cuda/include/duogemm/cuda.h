/* SGEMM on CUDA's own handles, in C; see duogemm/cuda.hpp. */
#ifndef DUOGEMM_CUDA_H
#define DUOGEMM_CUDA_H

#include <stddef.h>

#include "duogemm/duogemm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cudaStream_t and CUstream are pointers to it. */
struct CUstream_st;

/* Puts the multiplication on the stream and returns. a, b and c are device memory. */
duogemm_status duogemm_cuda_sgemm(struct CUstream_st* stream, const duogemm_problem* problem, const void* a,
                                  const void* b, void* c);

/* The same for problem->batch multiplications whose matrices lie anywhere: a, b and c are device memory that
   holds the device address of each, a multiple of an element's size. The strides do not count. */
duogemm_status duogemm_cuda_sgemm_batched(struct CUstream_st* stream, const duogemm_problem* problem,
                                          const float* const* a, const float* const* b, float* const* c);

/* Compiles what later calls in the stream's context may need, or finds it in the library or on disk: see
   duogemm::Context::warm. Allocates the stream's first workspace. Nothing is put on the stream, which must
   not be captured meanwhile. */
duogemm_status duogemm_cuda_warm(struct CUstream_st* stream);

/* How many bytes of workspace the call with the same problem needs on the stream's device. */
duogemm_status duogemm_cuda_sgemm_workspace_bytes(struct CUstream_st* stream, const duogemm_problem* problem,
                                                  size_t* bytes);
duogemm_status duogemm_cuda_sgemm_batched_workspace_bytes(struct CUstream_st* stream,
                                                          const duogemm_problem* problem, size_t* bytes);

/* The calls above in workspace that the caller supplies: device memory at a multiple of 256. It may be null
   where no byte is needed. */
duogemm_status duogemm_cuda_sgemm_with_workspace(struct CUstream_st* stream, const duogemm_problem* problem,
                                                 const void* a, const void* b, void* c, void* workspace,
                                                 size_t workspace_bytes);
duogemm_status duogemm_cuda_sgemm_batched_with_workspace(struct CUstream_st* stream,
                                                         const duogemm_problem* problem,
                                                         const float* const* a, const float* const* b,
                                                         float* const* c, void* workspace,
                                                         size_t workspace_bytes);

/* Products whose rows of A and C stand one after the other, of problem->batch groups that have a B each: see
   duogemm::cuda::sgemm_grouped. ends is device memory with an end for each group. */
duogemm_status duogemm_cuda_sgemm_grouped(struct CUstream_st* stream, const duogemm_problem* problem,
                                          const int32_t* ends, const void* a, const void* b, void* c);

/* An operand that many calls have in common can be split into the terms of f16x3 or bf16x6 once, into memory
   that the caller supplies: device memory at a multiple of 256, of as many bytes as the first answers. Of one
   operand at most, what was prepared is then given to calls, with the operand itself, and NULL for the
   other. */
typedef enum duogemm_operand { DUOGEMM_OPERAND_A = 0, DUOGEMM_OPERAND_B = 1 } duogemm_operand;
duogemm_status duogemm_cuda_prepared_bytes(struct CUstream_st* stream, const duogemm_problem* problem,
                                           duogemm_operand which, size_t* bytes);
duogemm_status duogemm_cuda_prepare(struct CUstream_st* stream, const duogemm_problem* problem,
                                    duogemm_operand which, const void* matrix, void* to);
duogemm_status duogemm_cuda_sgemm_prepared(struct CUstream_st* stream, const duogemm_problem* problem,
                                           const void* a, const void* b, void* c, const void* prepared_a,
                                           const void* prepared_b);

#ifdef __cplusplus
}
#endif

#endif
