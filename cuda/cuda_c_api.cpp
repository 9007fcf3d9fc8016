#include "api/c_api.h"
#include "duogemm/cuda.h"
#include "duogemm/cuda.hpp"

duogemm_status duogemm_cuda_sgemm(struct CUstream_st* stream, const duogemm_problem* problem, const float* a,
                                  const float* b, float* c) {
  return duogemm::call_from_c(
      problem, [&](const duogemm::Sgemm& request) { duogemm::cuda::sgemm(stream, request, a, b, c); });
}

duogemm_status duogemm_cuda_sgemm_batched(struct CUstream_st* stream, const duogemm_problem* problem,
                                          const float* const* a, const float* const* b, float* const* c) {
  return duogemm::call_from_c(problem, [&](const duogemm::Sgemm& request) {
    duogemm::cuda::sgemm_batched(stream, request, a, b, c);
  });
}

duogemm_status duogemm_cuda_warm(struct CUstream_st* stream) {
  return duogemm::call_from_c([&] { duogemm::cuda::warm(stream); });
}

duogemm_status duogemm_cuda_sgemm_workspace_bytes(struct CUstream_st* stream, const duogemm_problem* problem,
                                                  size_t* bytes) {
  return duogemm::bytes_from_c(problem, bytes, [&](const duogemm::Sgemm& request) {
    return duogemm::cuda::sgemm_workspace_bytes(stream, request);
  });
}

duogemm_status duogemm_cuda_sgemm_batched_workspace_bytes(struct CUstream_st* stream,
                                                          const duogemm_problem* problem, size_t* bytes) {
  return duogemm::bytes_from_c(problem, bytes, [&](const duogemm::Sgemm& request) {
    return duogemm::cuda::sgemm_batched_workspace_bytes(stream, request);
  });
}

duogemm_status duogemm_cuda_sgemm_with_workspace(struct CUstream_st* stream, const duogemm_problem* problem,
                                                 const float* a, const float* b, float* c, void* workspace,
                                                 size_t workspace_bytes) {
  return duogemm::call_from_c(problem, [&](const duogemm::Sgemm& request) {
    duogemm::cuda::sgemm(stream, request, a, b, c, duogemm::cuda::Workspace{workspace, workspace_bytes});
  });
}

duogemm_status duogemm_cuda_sgemm_batched_with_workspace(struct CUstream_st* stream,
                                                         const duogemm_problem* problem,
                                                         const float* const* a, const float* const* b,
                                                         float* const* c, void* workspace,
                                                         size_t workspace_bytes) {
  return duogemm::call_from_c(problem, [&](const duogemm::Sgemm& request) {
    duogemm::cuda::sgemm_batched(stream, request, a, b, c,
                                 duogemm::cuda::Workspace{workspace, workspace_bytes});
  });
}
