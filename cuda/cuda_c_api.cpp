#include "api/c_api.h"
#include "duogemm/cuda.h"
#include "duogemm/cuda.hpp"

using namespace duogemm;

duogemm_status duogemm_cuda_sgemm(struct CUstream_st* stream, const duogemm_problem* problem, const void* a,
                                  const void* b, void* c) {
  return call_from_c(problem, [&](const Sgemm& request) { cuda::sgemm(stream, request, a, b, c); });
}

duogemm_status duogemm_cuda_sgemm_batched(struct CUstream_st* stream, const duogemm_problem* problem,
                                          const float* const* a, const float* const* b, float* const* c) {
  return call_from_c(problem, [&](const Sgemm& request) { cuda::sgemm_batched(stream, request, a, b, c); });
}

duogemm_status duogemm_cuda_warm(struct CUstream_st* stream) {
  return call_from_c([&] { cuda::warm(stream); });
}

duogemm_status duogemm_cuda_sgemm_workspace_bytes(struct CUstream_st* stream, const duogemm_problem* problem,
                                                  size_t* bytes) {
  return bytes_from_c(problem, bytes,
                      [&](const Sgemm& request) { return cuda::sgemm_workspace_bytes(stream, request); });
}

duogemm_status duogemm_cuda_sgemm_batched_workspace_bytes(struct CUstream_st* stream,
                                                          const duogemm_problem* problem, size_t* bytes) {
  return bytes_from_c(problem, bytes, [&](const Sgemm& request) {
    return cuda::sgemm_batched_workspace_bytes(stream, request);
  });
}

duogemm_status duogemm_cuda_sgemm_with_workspace(struct CUstream_st* stream, const duogemm_problem* problem,
                                                 const void* a, const void* b, void* c, void* workspace,
                                                 size_t workspace_bytes) {
  return call_from_c(problem, [&](const Sgemm& request) {
    cuda::sgemm(stream, request, a, b, c, cuda::Workspace{workspace, workspace_bytes});
  });
}

duogemm_status duogemm_cuda_sgemm_batched_with_workspace(struct CUstream_st* stream,
                                                         const duogemm_problem* problem,
                                                         const float* const* a, const float* const* b,
                                                         float* const* c, void* workspace,
                                                         size_t workspace_bytes) {
  return call_from_c(problem, [&](const Sgemm& request) {
    cuda::sgemm_batched(stream, request, a, b, c, cuda::Workspace{workspace, workspace_bytes});
  });
}
