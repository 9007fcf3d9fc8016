// The entry point of cuBLASLt that is hidden, and what it is asked to compute, as a call of SGEMM.
#include <cublasLt.h>

#include <map>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "entry.h"

namespace duogemm::cublas {
namespace {

// The arguments of cublasLtMatmul that say what to compute.
struct LtArguments {
  cublasLtMatmulDesc_t product;
  const void* alpha;
  const void* a;
  cublasLtMatrixLayout_t a_layout;
  const void* b;
  cublasLtMatrixLayout_t b_layout;
  const void* beta;
  const void* c;
  cublasLtMatrixLayout_t c_layout;
  void* d;
  cublasLtMatrixLayout_t d_layout;
};

struct LtQueries {
  decltype(&cublasLtMatmulDescGetAttribute) of_product;
  decltype(&cublasLtMatrixLayoutGetAttribute) of_matrix;
  bool complete() const { return of_product != nullptr && of_matrix != nullptr; }
};

const LtQueries& lt_queries() {
  static const LtQueries found = {
      next_cublaslt().find_as<decltype(cublasLtMatmulDescGetAttribute)>("cublasLtMatmulDescGetAttribute"),
      next_cublaslt().find_as<decltype(cublasLtMatrixLayoutGetAttribute)>(
          "cublasLtMatrixLayoutGetAttribute")};
  return found;
}

// Of a product or a matrix. One that this version of cuBLASLt does not know has not been set.
template <typename Value, typename Object, typename Which>
Value attribute(Object object, Which which, Value otherwise) {
  Value value{};
  std::size_t written = 0;
  cublasStatus_t status;
  if constexpr (std::is_same_v<Object, cublasLtMatmulDesc_t>) {
    status = lt_queries().of_product(object, which, &value, sizeof value, &written);
  } else {
    status = lt_queries().of_matrix(object, which, &value, sizeof value, &written);
  }
  return status == CUBLAS_STATUS_SUCCESS ? value : otherwise;
}

std::int32_t of_product(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t which) {
  return attribute<std::int32_t>(product, which, -1);
}

struct Matrix {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t ld;
  std::int64_t batch;
  std::int64_t stride;
  bool transposed;  // one that is stored by rows is the transpose of one that is stored by columns
  bool operator==(const Matrix&) const = default;
};

// As it is stored by columns. Nothing where its order is neither by columns nor rows, or its batch a list.
std::optional<Matrix> matrix_of(cublasLtMatrixLayout_t layout) {
  constexpr auto batch_mode = static_cast<cublasLtMatrixLayoutAttribute_t>(8);  // since CUDA 13
  const auto order = attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, -1);
  if ((order != CUBLASLT_ORDER_COL && order != CUBLASLT_ORDER_ROW) ||
      attribute<std::uint32_t>(layout, batch_mode, 0) != 0) {
    return std::nullopt;
  }
  Matrix matrix{};
  matrix.rows = static_cast<std::int64_t>(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, 0));
  matrix.columns =
      static_cast<std::int64_t>(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS, 0));
  matrix.ld = attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD, 0);
  matrix.batch = attribute<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1);
  matrix.stride = attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0);
  matrix.transposed = order == CUBLASLT_ORDER_ROW;
  if (matrix.transposed) {
    std::swap(matrix.rows, matrix.columns);
  }
  return matrix;
}

bool is_fp32(cublasLtMatrixLayout_t layout) {
  return attribute<std::uint32_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, 0) == CUDA_R_32F;
}

bool is_complete(const LtArguments& call) {
  return call.product != nullptr && call.a_layout != nullptr && call.b_layout != nullptr &&
         call.c_layout != nullptr && call.d_layout != nullptr && call.alpha != nullptr &&
         call.beta != nullptr && lt_queries().complete();
}

bool is_scaled(cublasLtMatmulDesc_t product) {
  const auto is_set = [&](cublasLtMatmulDescAttributes_t which) {
    return attribute<const void*>(product, which, nullptr) != nullptr;
  };
  return is_set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER) || is_set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER) ||
         is_set(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER) || is_set(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER) ||
         is_set(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER);
}

// An epilogue of cuBLASLt's.
struct Ending {
  bool adds_bias;
  Activation activation;
};

std::optional<Ending> ending_of(cublasLtMatmulDesc_t product) {
  static const auto& endings =
      *new std::map<std::int32_t, Ending>{{CUBLASLT_EPILOGUE_DEFAULT, {false, Activation::none}},
                                          {CUBLASLT_EPILOGUE_BIAS, {true, Activation::none}},
                                          {CUBLASLT_EPILOGUE_RELU, {false, Activation::relu}},
                                          {CUBLASLT_EPILOGUE_RELU_BIAS, {true, Activation::relu}},
                                          {CUBLASLT_EPILOGUE_GELU, {false, Activation::gelu}},
                                          {CUBLASLT_EPILOGUE_GELU_BIAS, {true, Activation::gelu}}};
  const auto found = endings.find(of_product(product, CUBLASLT_MATMUL_DESC_EPILOGUE));
  return found == endings.end() ? std::nullopt : std::optional(found->second);
}

// Names what is asked beyond a product in FP32 and the epilogues above.
std::optional<Reason> not_served(const LtArguments& call) {
  if (!is_complete(call)) {
    return Reason::judged;
  }
  for (const auto layout : {call.a_layout, call.b_layout, call.c_layout, call.d_layout}) {
    if (!is_fp32(layout)) {
      return Reason::types;
    }
  }
  const auto is = [&](cublasLtMatmulDescAttributes_t which, std::int32_t value) {
    return of_product(call.product, which) == value;
  };
  if (!is(CUBLASLT_MATMUL_DESC_SCALE_TYPE, CUDA_R_32F)) {
    return Reason::types;
  }
  if (!is(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLAS_COMPUTE_32F)) {
    return Reason::arithmetic;
  }
  if (!is(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_HOST) &&
      !is(CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_DEVICE)) {
    return Reason::scalars;
  }
  const std::optional<Ending> ending = ending_of(call.product);
  const bool of_floats =
      is(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, -1) || is(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
  if (!ending || (ending->adds_bias && !of_floats)) {
    return Reason::epilogue;
  }
  const bool plain = is(CUBLASLT_MATMUL_DESC_TRANSC, CUBLAS_OP_N) &&
                     is(CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_FULL) && !is_scaled(call.product);
  return plain ? std::nullopt : std::optional(Reason::form);
}

// A conjugate transpose is a transpose.
Transpose transpose_of(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t which,
                       const Matrix& matrix) {
  const bool wanted = of_product(product, which) != CUBLAS_OP_N;
  return wanted != matrix.transposed ? Transpose::yes : Transpose::no;
}

bool has_size(const Matrix& matrix, Transpose op, std::int64_t rows, std::int64_t columns) {
  return op == Transpose::no ? matrix.rows == rows && matrix.columns == columns
                             : matrix.columns == rows && matrix.rows == columns;
}

// Nothing where the matrices do not fit together.
std::optional<Sgemm> product_of(const LtArguments& call, const Matrix& a, const Matrix& b, const Matrix& d) {
  Sgemm problem;
  problem.a_op = transpose_of(call.product, CUBLASLT_MATMUL_DESC_TRANSA, a);
  problem.b_op = transpose_of(call.product, CUBLASLT_MATMUL_DESC_TRANSB, b);
  problem.m = d.rows;
  problem.n = d.columns;
  problem.k = problem.a_op == Transpose::no ? a.columns : a.rows;
  problem.lda = a.ld;
  problem.ldb = b.ld;
  problem.ldc = d.ld;
  problem.batch = d.batch;
  problem.a_stride = a.stride;
  problem.b_stride = b.stride;
  problem.c_stride = d.stride;
  const bool fits = has_size(a, problem.a_op, problem.m, problem.k) &&
                    has_size(b, problem.b_op, problem.k, problem.n) && a.batch == d.batch &&
                    b.batch == d.batch;
  return fits ? std::optional(problem) : std::nullopt;
}

// Either why there is no such call, or the call, whose C is D.
std::variant<Reason, Call> sgemm_of(const LtArguments& arguments) {
  if (const std::optional<Reason> reason = not_served(arguments)) {
    return *reason;
  }
  const std::optional<Matrix> a = matrix_of(arguments.a_layout);
  const std::optional<Matrix> b = matrix_of(arguments.b_layout);
  const std::optional<Matrix> c = matrix_of(arguments.c_layout);
  const std::optional<Matrix> d = matrix_of(arguments.d_layout);
  if (!a || !b || !c || !d || d->transposed) {
    return Reason::form;
  }
  const std::optional<Sgemm> problem = product_of(arguments, *a, *b, *d);
  const bool device_scalars =
      of_product(arguments.product, CUBLASLT_MATMUL_DESC_POINTER_MODE) == CUBLASLT_POINTER_MODE_DEVICE;
  const bool reads_c = device_scalars || *static_cast<const float*>(arguments.beta) != 0.0f;
  const bool same_size = c->rows == d->rows && c->columns == d->columns && c->batch == d->batch;
  const bool in_place = arguments.c == arguments.d && *c == *d;
  if (!problem || (reads_c && !in_place && (c->transposed || !same_size || arguments.c == arguments.d))) {
    return Reason::form;
  }
  const Ending ending = *ending_of(arguments.product);
  Call call = {*problem, arguments.alpha, arguments.beta, arguments.a, arguments.b, arguments.d};
  call.device_scalars = device_scalars;
  call.epilogue.activation = ending.activation;
  if (reads_c && !in_place) {
    call.epilogue.addend = static_cast<const float*>(arguments.c);
    call.epilogue.addend_ld = c->ld;
    call.epilogue.addend_stride = c->stride;
  }
  if (ending.adds_bias) {
    call.epilogue.bias =
        attribute<const float*>(arguments.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, nullptr);
    call.epilogue.bias_stride =
        attribute<std::int64_t>(arguments.product, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 0);
  }
  const bool lacks_pointer = (reads_c && !in_place && call.epilogue.addend == nullptr) ||
                             (ending.adds_bias && call.epilogue.bias == nullptr);
  return lacks_pointer ? std::variant<Reason, Call>(Reason::judged) : call;
}

Outcome serve(const LtArguments& arguments, void* workspace, std::size_t bytes, cudaStream_t stream) {
  const std::variant<Reason, Call> found = sgemm_of(arguments);
  const Reason* const reason = std::get_if<Reason>(&found);
  return reason != nullptr ? Outcome{*reason, is_capturing(stream)}
                           : serve(std::get<Call>(found), stream, cuda::Workspace{workspace, bytes});
}

}  // namespace
}  // namespace duogemm::cublas

using namespace duogemm::cublas;

// cuBLAS calls it too, for what was passed on to it.
extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t computeDesc,
                                         const void* alpha, const void* A, cublasLtMatrixLayout_t Adesc,
                                         const void* B, cublasLtMatrixLayout_t Bdesc, const void* beta,
                                         const void* C, cublasLtMatrixLayout_t Cdesc, void* D,
                                         cublasLtMatrixLayout_t Ddesc, const cublasLtMatmulAlgo_t* algo,
                                         void* workspace, size_t workspaceSizeInBytes, cudaStream_t stream) {
  static Entry entry(next_cublaslt(), "cublasLtMatmul");
  const auto pass = [&] {
    return entry.pass(lightHandle, computeDesc, alpha, A, Adesc, B, Bdesc, beta, C, Cdesc, D, Ddesc, algo,
                      workspace, workspaceSizeInBytes, stream);
  };
  if (calls_in_cublas > 0) {
    return pass();
  }
  const Outcome outcome = lightHandle == nullptr
                              ? Outcome{Reason::judged}
                              : serve({computeDesc, alpha, A, Adesc, B, Bdesc, beta, C, Cdesc, D, Ddesc},
                                      workspace, workspaceSizeInBytes, stream);
  entry.count(outcome);
  return outcome.passed_on ? pass() : CUBLAS_STATUS_SUCCESS;
}
