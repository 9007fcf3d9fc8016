// The entry points of cuBLAS that are hidden. Each has cuBLAS compute what is not served.
#include <cublas_v2.h>

#include <initializer_list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "entry.h"
#include "system/log.h"

namespace duogemm::cublas {
namespace {

Transpose transpose_of(cublasOperation_t op) { return op == CUBLAS_OP_N ? Transpose::no : Transpose::yes; }

// C is m x n, op(A) is m x k.
Sgemm product(cublasOperation_t a_op, cublasOperation_t b_op, std::int64_t m, std::int64_t n, std::int64_t k,
              std::int64_t lda, std::int64_t ldb, std::int64_t ldc, std::int64_t batch = 1,
              std::int64_t a_stride = 0, std::int64_t b_stride = 0, std::int64_t c_stride = 0) {
  Sgemm problem{.m = m, .n = n, .k = k, .lda = lda, .ldb = ldb, .ldc = ldc, .batch = batch};
  problem.a_op = transpose_of(a_op);
  problem.b_op = transpose_of(b_op);
  problem.a_stride = a_stride;
  problem.b_stride = b_stride;
  problem.c_stride = c_stride;
  return problem;
}

// A handle of cuBLAS says this of the calls that are made with it.
struct HandleState {
  cudaStream_t stream;
  cuda::Workspace workspace;  // what the program has set, if it has
  bool device_scalars;        // alpha and beta are in device memory
};

// Tells whether the handle's calls compute in plain FP32.
struct HandleAnswer {
  std::optional<Reason> not_served;
  HandleState state;
};

struct Queries {
  cublasStatus_t (*pointer_mode)(cublasHandle_t, cublasPointerMode_t*);
  cublasStatus_t (*math_mode)(cublasHandle_t, cublasMath_t*);
  cublasStatus_t (*stream)(cublasHandle_t, cudaStream_t*);
  bool complete() const { return pointer_mode != nullptr && math_mode != nullptr && stream != nullptr; }
};

const Queries& queries() {
  static const Queries found = {
      next_cublas().find_as<decltype(cublasGetPointerMode_v2)>("cublasGetPointerMode_v2"),
      next_cublas().find_as<decltype(cublasGetMathMode)>("cublasGetMathMode"),
      next_cublas().find_as<decltype(cublasGetStream_v2)>("cublasGetStream_v2")};
  return found;
}

// Never destroyed: calls may come until the very end.
std::mutex& workspaces_mutex = *new std::mutex;
std::unordered_map<cublasHandle_t, cuda::Workspace>& workspaces =
    *new std::unordered_map<cublasHandle_t, cuda::Workspace>;

HandleAnswer ask(cublasHandle_t handle) {
  HandleAnswer answer{Reason::judged, {}};
  if (handle == nullptr || !queries().complete()) {
    return answer;
  }
  cublasPointerMode_t pointer_mode{};
  cublasMath_t math_mode{};
  if (queries().pointer_mode(handle, &pointer_mode) != CUBLAS_STATUS_SUCCESS ||
      queries().math_mode(handle, &math_mode) != CUBLAS_STATUS_SUCCESS ||
      queries().stream(handle, &answer.state.stream) != CUBLAS_STATUS_SUCCESS) {
    return answer;
  }
  // A flag about sums in FP16, which changes nothing here.
  constexpr unsigned any_reduction = CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  if ((static_cast<unsigned>(math_mode) & ~any_reduction) != CUBLAS_DEFAULT_MATH) {
    answer.not_served = Reason::arithmetic;
  } else {
    answer.not_served = std::nullopt;
    const std::lock_guard lock(workspaces_mutex);
    if (const auto found = workspaces.find(handle); found != workspaces.end()) {
      answer.state.workspace = found->second;
    }
    answer.state.device_scalars = pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  }
  return answer;
}

// cuBLAS does not tell a handle's workspace: this notes it, until the stream is set or the handle is
// destroyed.
void note_workspace(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  const std::lock_guard lock(workspaces_mutex);
  if (workspace == nullptr) {
    workspaces.erase(handle);
  } else {
    workspaces[handle] = {workspace, bytes};
  }
}

// The entry points for all types are told this of them.
struct Arithmetic {
  cudaDataType a = CUDA_R_32F;
  cudaDataType b = CUDA_R_32F;
  cudaDataType c = CUDA_R_32F;
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
};

std::optional<Reason> not_fp32(const Arithmetic& types) {
  for (const cudaDataType type : {types.a, types.b, types.c}) {
    if (type != CUDA_R_32F) {
      return Reason::types;
    }
  }
  return types.compute == CUBLAS_COMPUTE_32F ? std::nullopt : std::optional(Reason::arithmetic);
}

bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

Outcome serve(cublasHandle_t handle, Call call, const Arithmetic& types) {
  const std::optional<Reason> other_types = not_fp32(types);
  if (other_types && !log_is_wanted()) {
    return {other_types};  // without asking what of the handle matters to the log alone
  }
  const HandleAnswer answer = ask(handle);
  if (other_types || answer.not_served) {
    return {other_types ? other_types : answer.not_served, is_capturing(answer.state.stream)};
  }
  call.device_scalars = answer.state.device_scalars;
  return serve(call, answer.state.stream, answer.state.workspace);
}

// Serves the call of an entry point, or hands on its arguments, which are `handle, a_op, b_op, others...`.
template <typename... Others>
cublasStatus_t run(Entry& entry, const Call& call, const Arithmetic& types, cublasHandle_t handle,
                   cublasOperation_t a_op, cublasOperation_t b_op, Others... others) {
  const Outcome outcome =
      is_operation(a_op) && is_operation(b_op) ? serve(handle, call, types) : Outcome{Reason::judged};
  entry.count(outcome);
  return outcome.passed_on ? entry.pass(handle, a_op, b_op, others...) : CUBLAS_STATUS_SUCCESS;
}

}  // namespace
}  // namespace duogemm::cublas

using namespace duogemm::cublas;

// As cuBLAS 12 has them, for sizes of 32 and of 64 bits.
extern "C" {

#define TEXT_AS_IS(name) #name
#define TEXT(name) TEXT_AS_IS(name)
#define ENTRY(name) name
#define SIZE int
#include "products.h"
#undef ENTRY
#undef SIZE
#define ENTRY(name) name##_64
#define SIZE int64_t
#include "products.h"
#undef ENTRY
#undef SIZE

// Follows what becomes of a handle's workspace.

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t workspaceSizeInBytes) {
  static Entry entry(next_cublas(), "cublasSetWorkspace_v2");
  const cublasStatus_t status = entry.pass(handle, workspace, workspaceSizeInBytes);
  if (status == CUBLAS_STATUS_SUCCESS) {
    note_workspace(handle, workspace, workspaceSizeInBytes);
  }
  return status;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t streamId) {
  static Entry entry(next_cublas(), "cublasSetStream_v2");
  note_workspace(handle, nullptr, 0);
  return entry.pass(handle, streamId);
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  static Entry entry(next_cublas(), "cublasDestroy_v2");
  note_workspace(handle, nullptr, 0);
  return entry.pass(handle);
}
}
