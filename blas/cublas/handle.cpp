#include "handle.h"

#include <mutex>
#include <unordered_map>

#include "library.h"

namespace duogemm::cublas {
namespace {

struct Queries {
  cublasStatus_t (*pointer_mode)(cublasHandle_t, cublasPointerMode_t*);
  cublasStatus_t (*math_mode)(cublasHandle_t, cublasMath_t*);
  cublasStatus_t (*stream)(cublasHandle_t, cudaStream_t*);
  bool complete() const { return pointer_mode != nullptr && math_mode != nullptr && stream != nullptr; }
};

const Queries& queries() {
  static const Queries found = [] {
    Queries all{};
    NextLibrary& library = next_cublas();
    all.pointer_mode =
        library.find_as<cublasStatus_t(cublasHandle_t, cublasPointerMode_t*)>("cublasGetPointerMode_v2");
    all.math_mode = library.find_as<cublasStatus_t(cublasHandle_t, cublasMath_t*)>("cublasGetMathMode");
    all.stream = library.find_as<cublasStatus_t(cublasHandle_t, cudaStream_t*)>("cublasGetStream_v2");
    return all;
  }();
  return found;
}

// Never destroyed: calls may come until the very end.
std::mutex& workspaces_mutex = *new std::mutex;
std::unordered_map<cublasHandle_t, cuda::Workspace>& workspaces =
    *new std::unordered_map<cublasHandle_t, cuda::Workspace>;

cuda::Workspace workspace_of(cublasHandle_t handle) {
  const std::lock_guard lock(workspaces_mutex);
  const auto found = workspaces.find(handle);
  return found == workspaces.end() ? cuda::Workspace{} : found->second;
}

}  // namespace

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
    answer.state.workspace = workspace_of(handle);
    answer.state.device_scalars = pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  }
  return answer;
}

void note_workspace(cublasHandle_t handle, void* workspace, std::size_t bytes) {
  const std::lock_guard lock(workspaces_mutex);
  if (workspace == nullptr) {
    workspaces.erase(handle);
  } else {
    workspaces[handle] = {workspace, bytes};
  }
}

void forget_workspace(cublasHandle_t handle) { note_workspace(handle, nullptr, 0); }

}  // namespace duogemm::cublas
