#include "api/c_api.h"
#include "duogemm/cuda.h"
#include "duogemm/cuda.hpp"

using namespace duogemm;

namespace {

cuda::PreparedOperand operand_of(const duogemm_operand& which) {
  return value_of("which", which) == 1 ? cuda::PreparedOperand::b : cuda::PreparedOperand::a;
}

}  // namespace

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

duogemm_status duogemm_cuda_sgemm_grouped(struct CUstream_st* stream, const duogemm_problem* problem,
                                          const int32_t* ends, const void* a, const void* b, void* c) {
  return call_from_c(problem,
                     [&](const Sgemm& request) { cuda::sgemm_grouped(stream, request, ends, a, b, c); });
}

duogemm_status duogemm_cuda_prepared_bytes(struct CUstream_st* stream, const duogemm_problem* problem,
                                           duogemm_operand which, size_t* bytes) {
  return bytes_from_c(problem, bytes, [&](const Sgemm& request) {
    return cuda::prepared_bytes(stream, request, operand_of(which));
  });
}

duogemm_status duogemm_cuda_prepare(struct CUstream_st* stream, const duogemm_problem* problem,
                                    duogemm_operand which, const void* matrix, void* to) {
  return call_from_c(
      problem, [&](const Sgemm& request) { cuda::prepare(stream, request, operand_of(which), matrix, to); });
}

duogemm_status duogemm_cuda_sgemm_prepared(struct CUstream_st* stream, const duogemm_problem* problem,
                                           const void* a, const void* b, void* c, const void* prepared_a,
                                           const void* prepared_b) {
  return call_from_c(problem, [&](const Sgemm& request) {
    cuda::sgemm_prepared(stream, request, a, b, c, {prepared_a, prepared_b});
  });
}
