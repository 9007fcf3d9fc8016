// A program that opens a cuBLAS and looks up its functions, as JAX does.
//
//   cublas_user FILE calls            makes a call of each kind and prints how many FILE's cuBLAS has got
//   cublas_user FILE places [OTHER]   prints which file each function is of, that of OTHER's cublasSgemm_v2
//   last
#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace {

void* open(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  return library;
}

// Function is named by decltype: this program is not linked to a cuBLAS.
template <typename Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

void print_place(void* function) {
  Dl_info place{};
  const char* const error = dlerror();
  if (function == nullptr || dladdr(function, &place) == 0) {
    std::printf("none%s\n", error == nullptr ? "" : " and an error");
    return;
  }
  const char* const slash = std::strrchr(place.dli_fname, '/');
  std::printf("%s%s\n", slash == nullptr ? place.dli_fname : slash + 1,
              error == nullptr ? "" : " and an error");
}

void print_places(void* library, const char* other) {
  for (const char* name : {"cublasSgemm_v2", "cublasLtMatmul", "cublasCreate_v2", "cublasDgemm_v2"}) {
    print_place(dlsym(library, name));
  }
  print_place(dlsym(RTLD_DEFAULT, "cublasSgemm_v2"));
  const auto finds_itself = reinterpret_cast<bool (*)()>(dlsym(RTLD_DEFAULT, "finds_itself_after"));
  if (finds_itself != nullptr && finds_itself()) {
    std::printf("RTLD_NEXT is not what it should be\n");
  }
  if (other != nullptr) {
    print_place(dlsym(open(other), "cublasSgemm_v2"));
  }
}

void make_calls(void* library) {
  const auto create = find<decltype(cublasCreate_v2)>(library, "cublasCreate_v2");
  const auto set_math = find<decltype(cublasSetMathMode)>(library, "cublasSetMathMode");
  const auto set_pointers = find<decltype(cublasSetPointerMode_v2)>(library, "cublasSetPointerMode_v2");
  const auto sgemm = find<decltype(cublasSgemm_v2)>(library, "cublasSgemm_v2");
  const auto destroy = find<decltype(cublasDestroy_v2)>(library, "cublasDestroy_v2");
  const auto count = reinterpret_cast<int (*)()>(dlsym(library, "count_of_calls"));
  cublasHandle_t handle = nullptr;
  create(&handle);
  float x = 1.0f;
  const auto multiply = [&](int m) {
    sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, 1, 1, &x, &x, 1, &x, 1, &x, &x, 1);
  };
  multiply(1);
  multiply(0);
  for (const auto mode :
       {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_FP32_EMULATED_BF16X9_MATH}) {
    set_math(handle, mode);
    multiply(1);
  }
  set_math(handle, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  multiply(1);
  set_pointers(handle, CUBLAS_POINTER_MODE_DEVICE);
  multiply(1);
  destroy(handle);
  std::printf("%d\n", count());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  void* const library = open(argv[1]);
  if (std::strcmp(argv[2], "calls") == 0) {
    make_calls(library);
  } else {
    print_places(library, argc > 3 ? argv[3] : nullptr);
  }
  return 0;
}
