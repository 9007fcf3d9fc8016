// Products through handles of the real cuBLAS, in a program that has the drop-in library by link order: which
// of them duogemm serves, and that all of them are right.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "cuda_caller.h"
#include "files.h"
#include "problem/problem.h"
#include "random_sgemm.h"

namespace duogemm::testing {
namespace {

// DUOGEMM_RECORD names it before the first call, unless it is set.
const std::string& record_file() {
  static const std::string name = ::testing::TempDir() + "cublas_test." + std::to_string(getpid());
  return name;
}
[[maybe_unused]] const int recorded = setenv("DUOGEMM_RECORD", record_file().c_str(), 0);

// Tells whether duogemm has computed something by a call, which succeeds: it changes the record then.
bool is_served(const std::function<cublasStatus_t()>& call) {
  const std::string before = contents_of(record_file());
  EXPECT_EQ(call(), CUBLAS_STATUS_SUCCESS);
  return contents_of(record_file()) != before;
}

cublasOperation_t operation(Transpose op) { return op == Transpose::no ? CUBLAS_OP_N : CUBLAS_OP_T; }

// A product as cuBLAS takes it: by columns, with the matrices where they are on the device.
struct Product {
  Problem p;
  float* a;
  float* b;
  float* c;
  cublasOperation_t a_op() const { return operation(p.a_op); }
  cublasOperation_t b_op() const { return operation(p.b_op); }
  int m() const { return static_cast<int>(p.m); }
  int n() const { return static_cast<int>(p.n); }
  int k() const { return static_cast<int>(p.k); }
  int lda() const { return static_cast<int>(p.lda); }
  int ldb() const { return static_cast<int>(p.ldb); }
  int ldc() const { return static_cast<int>(p.ldc); }
  int batch() const { return static_cast<int>(p.batch); }
};

// A layout, or a description of a product.
template <typename T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, cublasStatus_t (*)(T)>;

template <typename T>
void set(const Owned<cublasLtMatrixLayout_t>& layout, cublasLtMatrixLayoutAttribute_t which, T value) {
  EXPECT_EQ(cublasLtMatrixLayoutSetAttribute(layout.get(), which, &value, sizeof value),
            CUBLAS_STATUS_SUCCESS);
}

Owned<cublasLtMatrixLayout_t> make_layout(std::int64_t rows, std::int64_t cols, std::int64_t ld,
                                          std::int64_t batch = 1, std::int64_t stride = 0) {
  cublasLtMatrixLayout_t made = nullptr;
  EXPECT_EQ(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, static_cast<std::uint64_t>(rows),
                                       static_cast<std::uint64_t>(cols), ld),
            CUBLAS_STATUS_SUCCESS);
  Owned<cublasLtMatrixLayout_t> layout{made, cublasLtMatrixLayoutDestroy};
  set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
  set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  return layout;
}

template <typename T>
void set(const Owned<cublasLtMatmulDesc_t>& product, cublasLtMatmulDescAttributes_t which, T value) {
  EXPECT_EQ(cublasLtMatmulDescSetAttribute(product.get(), which, &value, sizeof value),
            CUBLAS_STATUS_SUCCESS);
}

Owned<cublasLtMatmulDesc_t> describe_product(cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                                             cublasComputeType_t compute = CUBLAS_COMPUTE_32F) {
  cublasLtMatmulDesc_t made = nullptr;
  EXPECT_EQ(cublasLtMatmulDescCreate(&made, compute, CUDA_R_32F), CUBLAS_STATUS_SUCCESS);
  Owned<cublasLtMatmulDesc_t> product{made, cublasLtMatmulDescDestroy};
  set(product, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(epilogue));
  return product;
}

struct LtMatrix {
  float* data;
  const Owned<cublasLtMatrixLayout_t>& layout;
};

class CublasDropIn : public CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    current_.emplace(context_);
    stream_ = make_stream();
    ASSERT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasLtCreate(&lt_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasSetStream(handle_, stream_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    if (handle_ != nullptr) {
      cublasLtDestroy(lt_);
      cublasDestroy(handle_);
    }
  }

  // Has `call` compute problems of all kinds on device memory. Which of them are duogemm's is not asked here.
  void check(const std::function<cublasStatus_t(const Product&)>& call) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
      check_random_sgemm(seed, [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
        const CudaMemory device_a(a.array);
        const CudaMemory device_b(b.array);
        const CudaMemory device_c(c.array);
        const auto [problem, swapped] = to_column_major(request);
        float* const first = a.member(device_a.data());
        float* const second = b.member(device_b.data());
        if (request.level == Reproducibility::everywhere) {  // which calls of cuBLAS do not ask for
          cuda::sgemm(stream_, request, first, second, c.member(device_c.data()));
        } else {
          EXPECT_EQ(
              call({problem, swapped ? second : first, swapped ? first : second, c.member(device_c.data())}),
              CUBLAS_STATUS_SUCCESS);
        }
        device_c.read(c.array, stream_);
      });
    }
  }

  // Each member of a batch in a call of its own.
  void check_one_by_one(const std::function<cublasStatus_t(const Product&)>& call) {
    check([&](const Product& x) {
      cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
      for (std::int64_t i = 0; i < x.p.batch && status == CUBLAS_STATUS_SUCCESS; ++i) {
        Product one = x;
        one.p.batch = 1;
        one.a += i * x.p.a_stride;
        one.b += i * x.p.b_stride;
        one.c += i * x.p.c_stride;
        status = call(one);
      }
      return status;
    });
  }

  // Gives `call` lists of the members' addresses in device memory.
  using Lists = std::function<cublasStatus_t(const Product&, float** a, float** b, float** c)>;
  void check_lists(const Lists& call) {
    check([&](const Product& x) {
      const auto list = [&](float* base, std::int64_t stride) {
        std::vector<float*> places;
        for (std::int64_t i = 0; i < x.p.batch; ++i) {
          places.push_back(base + i * stride);
        }
        return std::make_unique<CudaMemory>(places);
      };
      const auto a = list(x.a, x.p.a_stride), b = list(x.b, x.p.b_stride), c = list(x.c, x.p.c_stride);
      const cublasStatus_t status = call(x, a->as<float*>(), b->as<float*>(), c->as<float*>());
      DUOGEMM_CUDA(cuStreamSynchronize(stream_));
      return status;
    });
  }

  // D = alpha A B + beta C, which is laid out as D.
  cublasStatus_t multiply_by_lt(const Owned<cublasLtMatmulDesc_t>& product, const float* alpha,
                                const LtMatrix& a, const LtMatrix& b, const float* beta, const float* c,
                                const LtMatrix& d) const {
    return cublasLtMatmul(lt_, product.get(), alpha, a.data, a.layout.get(), b.data, b.layout.get(), beta, c,
                          d.layout.get(), d.data, d.layout.get(), nullptr, nullptr, 0, stream_);
  }

  std::optional<cuda::CurrentContext> current_;
  CUstream stream_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  cublasLtHandle_t lt_ = nullptr;
};

constexpr auto algorithm = CUBLAS_GEMM_DEFAULT;
constexpr auto fp32 = CUDA_R_32F;

// With sizes of 32 and of 64 bits.

TEST_P(CublasDropIn, Sgemm) {
  const auto check_both = [&](auto* sgemm) {
    check_one_by_one([&](const Product& x) {
      return sgemm(handle_, x.a_op(), x.b_op(), x.m(), x.n(), x.k(), &x.p.alpha, x.a, x.lda(), x.b, x.ldb(),
                   &x.p.beta, x.c, x.ldc());
    });
  };
  check_both(cublasSgemm);
  check_both(cublasSgemm_64);
}

TEST_P(CublasDropIn, SgemmBatched) {
  const auto check_both = [&](auto* sgemm) {
    check_lists([&](const Product& x, float** a, float** b, float** c) {
      return sgemm(handle_, x.a_op(), x.b_op(), x.m(), x.n(), x.k(), &x.p.alpha, a, x.lda(), b, x.ldb(),
                   &x.p.beta, c, x.ldc(), x.batch());
    });
  };
  check_both(cublasSgemmBatched);
  check_both(cublasSgemmBatched_64);
}

TEST_P(CublasDropIn, SgemmStridedBatched) {
  const auto check_both = [&](auto* sgemm) {
    check([&](const Product& x) {
      return sgemm(handle_, x.a_op(), x.b_op(), x.m(), x.n(), x.k(), &x.p.alpha, x.a, x.lda(), x.p.a_stride,
                   x.b, x.ldb(), x.p.b_stride, &x.p.beta, x.c, x.ldc(), x.p.c_stride, x.batch());
    });
  };
  check_both(cublasSgemmStridedBatched);
  check_both(cublasSgemmStridedBatched_64);
}

TEST_P(CublasDropIn, GemmEx) {
  check_one_by_one([&](const Product& x) {
    return cublasGemmEx(handle_, x.a_op(), x.b_op(), x.m(), x.n(), x.k(), &x.p.alpha, x.a, fp32, x.lda(), x.b,
                        fp32, x.ldb(), &x.p.beta, x.c, fp32, x.ldc(), CUBLAS_COMPUTE_32F, algorithm);
  });
}

TEST_P(CublasDropIn, GemmBatchedEx) {
  check_lists([&](const Product& x, float** a, float** b, float** c) {
    return cublasGemmBatchedEx(handle_, x.a_op(), x.b_op(), x.m(), x.n(), x.k(), &x.p.alpha,
                               reinterpret_cast<void**>(a), fp32, x.lda(), reinterpret_cast<void**>(b), fp32,
                               x.ldb(), &x.p.beta, reinterpret_cast<void**>(c), fp32, x.ldc(), x.batch(),
                               CUBLAS_COMPUTE_32F, algorithm);
  });
}

TEST_P(CublasDropIn, GemmStridedBatchedEx) {
  check([&](const Product& x) {
    return cublasGemmStridedBatchedEx(handle_, x.a_op(), x.b_op(), x.m(), x.n(), x.k(), &x.p.alpha, x.a, fp32,
                                      x.lda(), x.p.a_stride, x.b, fp32, x.ldb(), x.p.b_stride, &x.p.beta, x.c,
                                      fp32, x.ldc(), x.p.c_stride, x.batch(), CUBLAS_COMPUTE_32F, algorithm);
  });
}

TEST_P(CublasDropIn, LtMatmul) {
  check([&](const Product& x) {
    const Problem& p = x.p;
    if (p.is_empty() || p.k == 0) {  // of which cuBLASLt makes no layout
      cuda::sgemm(stream_, request_of(p), x.a, x.b, x.c);
      return CUBLAS_STATUS_SUCCESS;
    }
    const auto a = make_layout(p.a_rows(), p.a_cols(), p.lda, p.batch, p.a_stride);
    const auto b = make_layout(p.b_rows(), p.b_cols(), p.ldb, p.batch, p.b_stride);
    const auto c = make_layout(p.m, p.n, p.ldc, p.batch, p.c_stride);
    const auto product = describe_product();
    set(product, CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(x.a_op()));
    set(product, CUBLASLT_MATMUL_DESC_TRANSB, static_cast<std::int32_t>(x.b_op()));
    return multiply_by_lt(product, &p.alpha, {x.a, a}, {x.b, b}, &p.beta, x.c, {x.c, c});
  });
}

// 100 x 90 of sums that are exact.
struct Small {
  CudaMemory a{std::vector<float>(100 * 70, 1.0f)};
  CudaMemory b{std::vector<float>(70 * 90, 0.5f)};
  CudaMemory c{std::vector<float>(100 * 90, 1.0f)};
  const float one = 1.0f;
  cublasStatus_t multiply(cublasHandle_t handle, const float* alpha, const float* beta) const {
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 100, 90, 70, alpha, a.data(), 100, b.data(), 70,
                       beta, c.data(), 100);
  }
  cublasStatus_t multiply(cublasHandle_t handle) const { return multiply(handle, &one, &one); }
  std::vector<float> result(CUstream stream) const {
    std::vector<float> all(100 * 90);
    c.read(all, stream);
    return all;
  }
};

std::vector<float> all_of(float value) { return std::vector<float>(100 * 90, value); }

TEST_P(CublasDropIn, ServesPlainFp32AndPassesOnWhatElseIsAsked) {
  const Small x;
  const auto served = [&] { return is_served([&] { return x.multiply(handle_); }); };
  EXPECT_TRUE(served());
  for (const auto mode : {CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH}) {
    ASSERT_EQ(cublasSetMathMode(handle_, mode), CUBLAS_STATUS_SUCCESS);
    EXPECT_FALSE(served());
  }
  ASSERT_EQ(cublasSetMathMode(handle_, CUBLAS_DEFAULT_MATH), CUBLAS_STATUS_SUCCESS);
  EXPECT_TRUE(served());
  EXPECT_EQ(x.result(stream_), all_of(1 + 4 * 35.0f));
  const auto served_as = [&](cublasComputeType_t compute) {
    return is_served([&] {
      return cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 100, 90, 70, &x.one, x.a.data(), fp32, 100,
                          x.b.data(), fp32, 70, &x.one, x.c.data(), fp32, 100, compute, algorithm);
    });
  };
  EXPECT_TRUE(served_as(CUBLAS_COMPUTE_32F));
  EXPECT_FALSE(served_as(CUBLAS_COMPUTE_32F_FAST_TF32));
  EXPECT_FALSE(served_as(CUBLAS_COMPUTE_32F_PEDANTIC));
}

TEST_P(CublasDropIn, ServesScalarsInDeviceMemory) {
  const Small x;
  const CudaMemory scalars(std::vector<float>{2.0f, 3.0f});
  ASSERT_EQ(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  EXPECT_TRUE(is_served([&] { return x.multiply(handle_, scalars.data(), scalars.data() + 1); }));
  EXPECT_EQ(x.result(stream_), all_of(2 * 35.0f + 3));
  check_lists([&](const Product& p, float** a, float** b, float** c) {
    const CudaMemory factors(std::vector<float>{p.p.alpha, p.p.beta});
    const cublasStatus_t status =
        cublasSgemmBatched(handle_, p.a_op(), p.b_op(), p.m(), p.n(), p.k(), factors.data(), a, p.lda(), b,
                           p.ldb(), factors.data() + 1, c, p.ldc(), p.batch());
    DUOGEMM_CUDA(cuStreamSynchronize(stream_));
    return status;
  });
  check([&](const Product& p) {
    const CudaMemory factors(std::vector<float>{p.p.alpha, p.p.beta});
    const cublasStatus_t status = cublasSgemmStridedBatched(
        handle_, p.a_op(), p.b_op(), p.m(), p.n(), p.k(), factors.data(), p.a, p.lda(), p.p.a_stride, p.b,
        p.ldb(), p.p.b_stride, factors.data() + 1, p.c, p.ldc(), p.p.c_stride, p.batch());
    DUOGEMM_CUDA(cuStreamSynchronize(stream_));
    return status;
  });
}

TEST_P(CublasDropIn, AnswersBadArgumentsAsCublas) {
  const Small x;
  const auto call = [&](int m, int lda, const float* alpha) {
    return cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, 90, 70, alpha, x.a.data(), lda, x.b.data(), 70,
                       &x.one, x.c.data(), 100);
  };
  EXPECT_EQ(call(-1, 100, &x.one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(100, 99, &x.one), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(100, 100, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(call(0, 100, &x.one), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(x.result(stream_), all_of(1));
}

// With a workspace of the program's, and without, where the graph gets its own. A sum over much of k needs
// one.
TEST_P(CublasDropIn, IsCapturedInAGraph) {
  const CudaMemory lent(std::vector<float>(8 << 20));
  const CudaMemory a(std::vector<float>(100 * 20000, 1.0f)), b(std::vector<float>(20000 * 90, 0.5f));
  const float one = 1.0f;
  for (const std::size_t lends : {std::size_t{0}, std::size_t{1024}, std::size_t{32} << 20}) {
    const CudaMemory c(std::vector<float>(100 * 90, 1.0f));
    ASSERT_EQ(cublasSetWorkspace(handle_, lends > 0 ? lent.data() : nullptr, lends), CUBLAS_STATUS_SUCCESS);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_TRUE(is_served([&] {
      return cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 100, 90, 20000, &one, a.data(), 100, b.data(),
                         20000, &one, c.data(), 100);
    }));
    ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiateWithFlags(&executable, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    std::vector<float> result(100 * 90);
    c.read(result, stream_);
    EXPECT_EQ(result, all_of(1 + 2 * 10000.0f));
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
}

// D = A B + bias in each column, for a batch of two whose A is stored by rows.
TEST_P(CublasDropIn, LtAddsABias) {
  constexpr int m = 60, n = 50, k = 20, count = 2;
  const CudaMemory a(std::vector<float>(m * k * count, 2.0f)), b(std::vector<float>(k * n * count, 0.5f));
  const CudaMemory d(std::vector<float>(m * n * count, std::nanf("")));
  std::vector<float> values(m * count), expected;
  for (int i = 0; i < m * count; ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<float>(i);
  }
  for (int i = 0; i < m * n * count; ++i) {
    const int of_bias = i / (m * n) * m + i % m;
    expected.push_back(static_cast<float>(k + of_bias));
  }
  const CudaMemory bias(values);
  const auto by_rows = make_layout(m, k, k, count, m * k);
  set(by_rows, CUBLASLT_MATRIX_LAYOUT_ORDER, static_cast<std::int32_t>(CUBLASLT_ORDER_ROW));
  const auto b_layout = make_layout(k, n, k, count, k * n), d_layout = make_layout(m, n, m, count, m * n);
  const auto product = describe_product(CUBLASLT_EPILOGUE_BIAS);
  set(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias.data()));
  set(product, CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, std::int64_t{m});
  const float one = 1.0f, zero = 0.0f;
  EXPECT_TRUE(is_served([&] {
    return multiply_by_lt(product, &one, {a.data(), by_rows}, {b.data(), b_layout}, &zero, d.data(),
                          {d.data(), d_layout});
  }));
  std::vector<float> result(expected.size());
  d.read(result, stream_);
  EXPECT_EQ(result, expected);
}

// As cuBLASLt does with TF32's name for the arithmetic, which is not served: C apart from D or not, each
// epilogue, factors on the host and on the device.
TEST_P(CublasDropIn, LtServesEpiloguesAndAnAddendApart) {
  constexpr int m = 60, n = 50, k = 20;
  std::vector<float> of_a(m * k), of_b(k * n), of_c(m * n), values(m);
  const auto fill = [](std::vector<float>& numbers, int step) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<float>(static_cast<int>(i * 7 % 9) - 4) / static_cast<float>(step);
    }
  };
  fill(of_a, 2);
  fill(of_b, 4);
  fill(of_c, 1);
  fill(values, 3);
  const CudaMemory a(of_a), b(of_b), c(of_c), bias(values), scalars(std::vector<float>{0.5f, 2.0f});
  const auto a_layout = make_layout(m, k, m), b_layout = make_layout(k, n, k),
             d_layout = make_layout(m, n, m);
  const float alpha = 0.5f, beta = 2.0f;
  for (const auto epilogue :
       {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_BIAS,
        CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS}) {
    for (const bool apart : {false, true}) {
      for (const bool on_device : {false, true}) {
        const auto multiply = [&](cublasComputeType_t compute, bool served) {
          const auto product = describe_product(epilogue, compute);
          if (epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
              epilogue == CUBLASLT_EPILOGUE_GELU_BIAS) {
            set(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<const void*>(bias.data()));
          }
          set(product, CUBLASLT_MATMUL_DESC_POINTER_MODE,
              static_cast<std::int32_t>(on_device ? CUBLASLT_POINTER_MODE_DEVICE
                                                  : CUBLASLT_POINTER_MODE_HOST));
          const CudaMemory d(of_c);
          EXPECT_EQ(is_served([&] {
                      return multiply_by_lt(product, on_device ? scalars.data() : &alpha,
                                            {a.data(), a_layout}, {b.data(), b_layout},
                                            on_device ? scalars.data() + 1 : &beta,
                                            apart ? c.data() : d.data(), {d.data(), d_layout});
                    }),
                    served);
          std::vector<float> result(m * n);
          d.read(result, stream_);
          return result;
        };
        const std::vector<float> found = multiply(CUBLAS_COMPUTE_32F, true);
        const std::vector<float> expected = multiply(CUBLAS_COMPUTE_32F_FAST_TF32, false);
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_NEAR(found[i], expected[i], 1e-3f) << "epilogue " << epilogue << ", element " << i;
        }
      }
    }
  }
}

TEST_P(CublasDropIn, LtPassesOnOtherEpiloguesAndArithmetic) {
  const Small x;
  const auto a = make_layout(100, 70, 100), b = make_layout(70, 90, 70), c = make_layout(100, 90, 100);
  const auto served = [&](const Owned<cublasLtMatmulDesc_t>& product) {
    return is_served([&] {
      return multiply_by_lt(product, &x.one, {x.a.data(), a}, {x.b.data(), b}, &x.one, x.c.data(),
                            {x.c.data(), c});
    });
  };
  EXPECT_TRUE(served(describe_product()));
  EXPECT_FALSE(served(describe_product(CUBLASLT_EPILOGUE_DEFAULT, CUBLAS_COMPUTE_32F_FAST_TF32)));
  const CudaMemory kept(std::vector<float>(128 * 90));
  const auto gradient = describe_product(CUBLASLT_EPILOGUE_RELU_AUX);
  set(gradient, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, static_cast<const void*>(kept.data()));
  set(gradient, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, std::int64_t{128});
  EXPECT_FALSE(served(gradient));
  EXPECT_EQ(x.result(stream_), all_of(1 + 3 * 35.0f));
}

INSTANTIATE_TEST_SUITE_P(Devices, CublasDropIn, ::testing::Values("cuda0"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace duogemm::testing
