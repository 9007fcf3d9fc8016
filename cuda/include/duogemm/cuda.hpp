// SGEMM on CUDA's own handles. C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "duogemm/sgemm.hpp"

// A stream of the CUDA runtime or driver: cudaStream_t and CUstream are pointers to it.
struct CUstream_st;

namespace duogemm::cuda {

// Workspace is device memory for what a call has to keep between its commands, which some problems need. By
// default the library sees to it: it keeps a piece for each stream, for the 64 that used it last, and
// replaces it when a call needs a larger one. The first is a 2048th of the device's memory (32 MiB of 80 GB,
// as cuBLAS has), so that few calls do. A caller who wants to know, or to limit, what is allocated supplies
// it instead.
//
// A call that is captured has workspace that its CUDA graph owns: it is allocated during the capture, shared
// by calls that follow each other in the graph, and lives as long as the graph, its copies and its
// executables. The next call after that frees it, for which it waits for the device. So graphs may run at
// once with each other and with other calls on the stream. Executables of one graph that run at the same time
// share what the graph has, as they share its matrices.
struct Workspace {
  void* pointer = nullptr;  // of the stream's context; a multiple of 256, as what cudaMalloc gives
  std::size_t bytes = 0;
};

// Puts the multiplication on the stream and returns: C is there when the stream has come past it. Once the
// same problem has been seen in this CUDA context, nothing is compiled and, once it has been seen on this
// stream, nothing is allocated and nothing waits. While the stream is captured, the call becomes part of the
// CUDA graph, whether it was made before or not. a, b and c are device memory of the stream's context (for
// the null stream: of the current one). Any thread may call, also several at once on one stream.
//
// In a caller's workspace nothing is allocated, and what stands in it is lost. Calls on one stream may share
// it; on several streams, or in several graphs, each needs its own while its commands run. Its pointer may be
// null where no byte is needed.
//
// Throws Error: invalid_argument names what is wrong, also a workspace that is too small or not aligned, and
// nothing has been enqueued, and neither has it with out_of_memory; unsupported where there is no driver.
void sgemm(CUstream_st* stream, const Sgemm& problem, const void* a, const void* b, void* c,
           const std::optional<Workspace>& workspace = {});

// The same for problem.batch multiplications whose matrices lie anywhere: a, b and c are device memory that
// holds the device address of each, a multiple of an element's size, read when the commands run. The strides
// of the problem do not count.
void sgemm_batched(CUstream_st* stream, const Sgemm& problem, const float* const* a, const float* const* b,
                   float* const* c, const std::optional<Workspace>& workspace = {});

// Compiles what later calls in the stream's context may need, or finds it in the library or on disk: see
// Context::warm. Allocates the stream's first workspace. Nothing is put on the stream, which must not be
// captured meanwhile. Throws as Context::warm does.
WarmUp warm(CUstream_st* stream);

// --- Epilogue --------------------------------------------------------------------------------------------

// What a call computes beyond C <- alpha op(A) op(B) + beta C. All of it is device memory of the stream's
// context.
//
// C <- activation(alpha op(A) op(B) + beta addend + bias). Where matrices are stored by rows, read "column"
// for "row".
struct Epilogue {
  // What beta is a factor of, in place of C, which then is only written. It is stored as C is, with elements
  // of its type. Null: C.
  const void* addend = nullptr;
  std::int64_t addend_ld = 0;
  // From that of one member of a batch to that of the next; 0: all have the same. So for the bias.
  std::int64_t addend_stride = 0;
  // A value for each row of C, as a linear layer adds it. Null: none.
  const float* bias = nullptr;
  std::int64_t bias_stride = 0;
  Activation activation = Activation::none;
  // Where alpha and beta are, in place of those of the problem: both or neither. They are read when the
  // commands run. A NaN in A or B then does not spread where alpha is zero.
  const float* alpha = nullptr;
  const float* beta = nullptr;
};

// The calls above with an epilogue, in the library's own workspace where none is lent. The kernel that
// multiplies reads an addend where it stands, and a bias where beta is 0. The rest is done by a step at the
// end. A batch by lists may have alpha and beta alone; anything else is an invalid_argument. Throws as
// sgemm() does.
void sgemm_with_epilogue(CUstream_st* stream, const Sgemm& problem, const void* a, const void* b, void* c,
                         const Epilogue& epilogue, const std::optional<Workspace>& workspace = {});
void sgemm_batched_with_epilogue(CUstream_st* stream, const Sgemm& problem, const float* const* a,
                                 const float* const* b, float* const* c, const Epilogue& epilogue,
                                 const std::optional<Workspace>& workspace = {});

// --- Prepared operands -----------------------------------------------------------------------------------

// In the precisions f16x3 and bf16x6 a call first splits both operands into terms. An operand that many calls
// have in common, such as the weights of a model, can be split once instead, into memory of the caller's.
enum class PreparedOperand { a, b };

// How many bytes that takes. It depends on the precision, the level and the operand alone, on its sizes, type
// and batch: a prepared A serves any n, and a prepared B any m. 0 for an operand without elements.
//
// Throws Error: invalid_argument where the precision is fp32, and as sgemm() does; unsupported, with the
// reason, where the stream's device has no tensor cores that the library can use.
std::size_t prepared_bytes(CUstream_st* stream, const Sgemm& problem, PreparedOperand which);

// Puts the split of `matrix`, the problem's A or B, on the stream, or into the CUDA graph that captures it.
// `to` is device memory of that many bytes, at a multiple of 256. It then serves all calls on the device that
// come after this one, until the matrix changes. Throws as prepared_bytes() does.
void prepare(CUstream_st* stream, const Sgemm& problem, PreparedOperand which, const void* matrix, void* to);

// What prepare() wrote, of one operand at most.
struct Prepared {
  const void* a = nullptr;
  const void* b = nullptr;
};

// sgemm_with_epilogue() with an operand that was prepared for the same layout, precision and level, as A or
// B. The error bound is the same. a and b are given all the same and hold the numbers that were prepared,
// because what terms cannot hold is read there, and all of it where the library computes in FP32. Throws as
// sgemm() does; also invalid_argument where both operands are prepared, or the precision is fp32.
void sgemm_prepared(CUstream_st* stream, const Sgemm& problem, const void* a, const void* b, void* c,
                    const Prepared& prepared, const Epilogue& epilogue = {},
                    const std::optional<Workspace>& workspace = {});

// --- Grouped products ------------------------------------------------------------------------------------

// Products whose rows of A and C stand one after the other, and which have a B each, such as the tokens of
// the experts of a network. problem.batch is how many groups there are, and problem.m how many rows all have.
// ends is device memory of the stream's context with a number for each group: the rows before it that no
// group before has are the group's. The ends ascend, and none is above m; a group may be empty. They are read
// when the commands run, so that nothing waits for the host to know them. The B of a group begins a b_stride
// after that of the group before; a_stride and c_stride do not count. Where matrices are stored by columns,
// read "columns" for "rows", n for m, B for A, and a_stride for b_stride.
//
// C has no meaning after the last end. Ends that do not ascend give wrong results, and touch no other memory.
// An element of C has the same bits at the level `everywhere` as by sgemm().
//
// The matrices B may be prepared, by prepare() for a batch of as many. The bias is the same for all groups,
// and the strides of bias and addend do not count. Workspace is always needed. Throws as sgemm() does; also
// invalid_argument where m and 256 for each group are not below 2^31, and unsupported where k is not below
// 2^30.
void sgemm_grouped(CUstream_st* stream, const Sgemm& problem, const std::int32_t* ends, const void* a,
                   const void* b, void* c, const Prepared& prepared = {}, const Epilogue& epilogue = {},
                   const std::optional<Workspace>& workspace = {});

// --- Workspace -------------------------------------------------------------------------------------------

// How many bytes a call with the same problem, epilogue and prepared operand needs on the stream's device; 0
// for many.
std::size_t sgemm_workspace_bytes(CUstream_st* stream, const Sgemm& problem, const Epilogue& epilogue = {},
                                  const Prepared& prepared = {});
std::size_t sgemm_batched_workspace_bytes(CUstream_st* stream, const Sgemm& problem,
                                          const Epilogue& epilogue = {});
std::size_t sgemm_grouped_workspace_bytes(CUstream_st* stream, const Sgemm& problem,
                                          const Epilogue& epilogue = {}, const Prepared& prepared = {});

}  // namespace duogemm::cuda
