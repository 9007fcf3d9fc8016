// SGEMM on the caller's own CUDA stream and device pointers.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "check/inputs.h"
#include "check/oracle.h"
#include "cuda_caller.h"
#include "devices.h"
#include "duogemm/cuda.h"
#include "grouped_product.h"
#include "random_sgemm.h"
#include "refusal.h"

namespace duogemm::testing {
namespace {

class CudaNative : public CudaDeviceTest {
 protected:
  void check(std::uint32_t seed, CUstream stream, bool batched, bool narrow = false) const {
    const cuda::CurrentContext current(context_);
    const auto check_random = narrow ? check_random_narrow_sgemm : check_random_sgemm;
    check_random(seed, [&](const Sgemm& request, const Batch& a, const Batch& b, Batch& c) {
      const CudaMemory device_a(a.array);
      const CudaMemory device_b(b.array);
      const CudaMemory device_c(c.array);
      if (batched) {
        const CudaMemory list_a(a.list(device_a.data(), request.batch));
        const CudaMemory list_b(b.list(device_b.data(), request.batch));
        const CudaMemory list_c(c.list(device_c.data(), request.batch));
        cuda::sgemm_batched(stream, request, list_a.as<const float*>(), list_b.as<const float*>(),
                            list_c.as<float*>());
        device_c.read(c.array, stream);
      } else {
        cuda::sgemm(stream, request, a.member(device_a.data()), b.member(device_b.data()),
                    c.member(device_c.data()));
        device_c.read(c.array, stream);
      }
    });
  }
};

TEST_P(CudaNative, RandomProblemsOnAStreamAndOnTheNullStream) {
  const CUstream stream = make_stream();
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    check(seed, seed % 2 == 0 ? stream : nullptr, false);
  }
}

TEST_P(CudaNative, RandomBatchesByAddresses) {
  const CUstream stream = make_stream();
  for (std::uint32_t seed = 2000; seed < 2200; ++seed) {
    check(seed, stream, true);
  }
}

TEST_P(CudaNative, RandomNarrowProblems) {
  const CUstream stream = make_stream();
  for (std::uint32_t seed = 2200; seed < 2400; ++seed) {
    check(seed, stream, seed % 3 == 0, true);
  }
}

GroupedProduct three_groups() {
  Problem problem = problem_of(60, 200, 44, "TN", 4);
  problem.alpha = 0.5f;
  problem.beta = 2.0f;
  return {problem, {30, 30, 190}, 8};
}

TEST_P(CudaNative, GroupsOfColumnsAndOfRows) {
  const CUstream stream = make_stream();
  const cuda::CurrentContext current(context_);
  for (const Layout layout : {Layout::column_major, Layout::row_major}) {
    const GroupedProduct product = three_groups();
    const Sgemm request = product.request(layout);
    const bool by_rows = layout == Layout::row_major;
    const CudaMemory a(by_rows ? product.b : product.a), b(by_rows ? product.a : product.b), c(product.c),
        ends(product.ends);
    std::vector<float> found(product.c.size());
    cuda::sgemm_grouped(stream, request, ends.as<std::int32_t>(), a.data(), b.data(), c.data());
    c.read(found, stream);
    product.expect_right(found);
    const std::size_t bytes = cuda::sgemm_grouped_workspace_bytes(stream, request);
    const CudaMemory workspace((std::vector<char>(bytes)));
    c.write(product.c);
    cuda::sgemm_grouped(stream, request, ends.as<std::int32_t>(), a.data(), b.data(), c.data(), {}, {},
                        cuda::Workspace{workspace.data(), bytes});
    c.read(found, stream);
    product.expect_right(found);
    EXPECT_EQ(refusal([&] { cuda::sgemm_grouped(stream, request, nullptr, a.data(), b.data(), c.data()); }),
              "the ends of the groups are null");
    EXPECT_EQ(refusal([&] {
                cuda::sgemm_grouped(stream, request, ends.as<std::int32_t>(), a.data(), b.data(), c.data(),
                                    {}, {}, cuda::Workspace{});
              }),
              "workspace is null; the problem needs " + std::to_string(bytes) + " bytes");
  }
}

TEST_P(CudaNative, GroupsAreThereInC) {
  const GroupedProduct product = three_groups();
  const cuda::CurrentContext current(context_);
  const CudaMemory a(product.a), b(product.b), c(product.c), ends(product.ends);
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.a_op = DUOGEMM_TRANSPOSE;
  problem.m = 60;
  problem.n = 200;
  problem.k = 44;
  problem.lda = problem.ldb = 48;
  problem.ldc = 64;
  problem.alpha = 0.5f;
  problem.beta = 2.0f;
  problem.batch = 3;
  problem.a_stride = product.problem.a_stride;
  ASSERT_EQ(
      duogemm_cuda_sgemm_grouped(nullptr, &problem, ends.as<std::int32_t>(), a.data(), b.data(), c.data()),
      DUOGEMM_SUCCESS);
  std::vector<float> found(product.c.size());
  c.read(found, nullptr);
  product.expect_right(found);
}

TEST_P(CudaNative, WarmsUpAStreamForItsFirstCall) {
  const cuda::CurrentContext current(context_);
  const Sgemm request{
      .a_op = Transpose::yes, .m = 1024, .n = 236, .k = 1024, .lda = 1024, .ldb = 1024, .ldc = 1024};
  if (cuda::sgemm_workspace_bytes(nullptr, request) == 0) {
    GTEST_SKIP() << "the product needs no workspace here";
  }
  const CudaMemory a(std::vector<float>(1024 * 1024, 1.0f));
  const CudaMemory b(std::vector<float>(1024 * 236, 1.0f));
  const CudaMemory c(std::vector<float>(1024 * 236, 0.0f));
  cuda::sgemm(make_stream(), request, a.data(), b.data(), c.data());  // plans
  const CUstream stream = make_stream();
  cuda::warm(stream);
  const std::size_t before = free_bytes();
  cuda::sgemm(stream, request, a.data(), b.data(), c.data());
  EXPECT_EQ(before, free_bytes());
}

// Exact numbers: an addend of its own leading dimension, a bias, and the positive part, with factors here and
// there.
TEST_P(CudaNative, FinishesWithAnEpilogue) {
  const cuda::CurrentContext current(context_);
  constexpr int m = 100, n = 60, k = 35;
  const CudaMemory a(std::vector<float>(m * k, 1.0f)), b(std::vector<float>(k * n, 2.0f));
  const CudaMemory addend(std::vector<float>(110 * n, -100.0f)), scalars(std::vector<float>{0.5f, 2.0f});
  std::vector<float> values(m), result(m * n);
  for (int i = 0; i < m; ++i) {
    values[static_cast<std::size_t>(i)] = static_cast<float>(2 * i);
  }
  const CudaMemory bias(values);
  for (const bool in_memory : {false, true}) {
    const CudaMemory c(std::vector<float>(m * n, std::nanf("")));
    const Sgemm request{.m = m, .n = n, .k = k, .alpha = 0.5f, .beta = 2.0f, .lda = m, .ldb = k, .ldc = m};
    cuda::Epilogue epilogue{
        .addend = addend.data(), .addend_ld = 110, .bias = bias.data(), .activation = Activation::relu};
    if (in_memory) {
      epilogue.alpha = scalars.data();
      epilogue.beta = scalars.data() + 1;
    }
    cuda::sgemm_with_epilogue(nullptr, request, a.data(), b.data(), c.data(), epilogue);
    c.read(result, nullptr);
    for (int i = 0; i < m * n; ++i) {
      ASSERT_EQ(result[static_cast<std::size_t>(i)],
                std::max(0.0f, static_cast<float>(k - 200 + 2 * (i % m))))
          << i;
    }
  }
}

TEST_P(CudaNative, RefusesEpiloguesThatDoNotFit) {
  const cuda::CurrentContext current(context_);
  const CudaMemory memory(std::vector<float>(64, 1.0f));
  const Sgemm request{.m = 8, .n = 8, .k = 8, .beta = 1.0f, .lda = 8, .ldb = 8, .ldc = 8};
  const auto refused = [&](const cuda::Epilogue& epilogue) {
    return refusal([&] {
      cuda::sgemm_with_epilogue(nullptr, request, memory.data(), memory.data(), memory.data(), epilogue);
    });
  };
  EXPECT_EQ(refused({.alpha = memory.data()}), "alpha and beta must both be in device memory, or neither");
  EXPECT_EQ(refused({.addend = memory.data(), .addend_ld = 7}),
            "the leading dimension of the addend is 7; it must be at least 8");
  EXPECT_EQ(refused({.addend = memory.data()}),
            "the leading dimension of the addend is 0; it must be at least 8");
  EXPECT_EQ(refused({.bias = memory.data(), .bias_stride = -1}),
            "the stride of the bias is -1; it must be at least 0");
  EXPECT_EQ(
      refusal([&] {
        cuda::sgemm_batched_with_epilogue(nullptr, request, nullptr, nullptr, nullptr,
                                          {.bias = memory.data()});
      }),
      "a batch by lists has an addend, a bias or an activation; its epilogue may have alpha and beta alone");
}

TEST_P(CudaNative, RefusesPointersThatAreNullOrBeginWithinAnElement) {
  const Sgemm request{.m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2};
  const cuda::CurrentContext current(context_);
  const CudaMemory memory(std::vector<float>(8, 1.0f));
  for (int wrong = 0; wrong < 3; ++wrong) {
    const auto refused_with = [&](float* instead) {
      const auto place = [&](int which) { return wrong == which ? instead : memory.data(); };
      return refusal([&] { cuda::sgemm(nullptr, request, place(0), place(1), place(2)); });
    };
    const std::string name(1, "abc"[wrong]);
    EXPECT_EQ(refused_with(nullptr), name + " is null");
    EXPECT_EQ(refused_with(reinterpret_cast<float*>(memory.as<char>() + 2)),
              name + " is not at a multiple of 4 bytes");
  }
}

// --- Prepared operands -----------------------------------------------------------------------------------

// Has all problems that are new run with a kernel, while it lives.
class Forced {
 public:
  explicit Forced(const std::string& schedule) {
    if (const char* before = std::getenv("DUOGEMM_FORCE")) {
      before_ = before;
    }
    setenv("DUOGEMM_FORCE", schedule.c_str(), 1);
  }
  ~Forced() { setenv("DUOGEMM_FORCE", before_.c_str(), 1); }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;

 private:
  std::string before_;
};

// Stages of operands of 16 bits are smaller than the sums that a cluster exchanges in their place.
TEST_P(CudaNative, NarrowProblemsInClusters) {
  if (cuda::borrow_context(context_)->info().compute_capability != 90) {
    GTEST_SKIP() << "the device has no clusters that multiply on tensor cores";
  }
  const CUstream stream = make_stream();
  std::uint32_t seed = 2400;  // of problems that are new for each
  for (const char* tile : {"TSM=128,TSN=64", "TSM=128", "TSM=256"}) {
    const Forced forced(std::string("tensor:") + tile + ",slices=2,clustered=1");
    for (int i = 0; i < 60; ++i) {
      check(seed++, stream, false, true);
    }
  }
}

class CudaPrepared : public CudaDeviceTest {
 protected:
  void SetUp() override {
    CudaDeviceTest::SetUp();
    if (context_) {
      current_.emplace(context_);
      capability_ = cuda::borrow_context(context_)->info().compute_capability;
      if (capability_ < 80) {
        GTEST_SKIP() << "the device has no tensor cores that the library can use";
      }
    }
  }

  std::vector<const char*> schedules() const {
    std::vector<const char*> all = {"tensor_mma", "tensor_mma:TSM=64,WARP_N=32,slices=2"};
    if (capability_ == 90) {
      all.insert(all.end(), {"tensor:TSM=128", "tensor:TSM=256", "tensor:TSM=256,slices=2"});
    }
    return all;
  }

  std::optional<cuda::CurrentContext> current_;
  int capability_ = 0;
};

// A product on the device.
struct DeviceProduct {
  Sgemm request;
  HostProblem host;
  CudaMemory a, b, c;

  explicit DeviceProduct(const Sgemm& of, bool with_far_numbers = false)
      : request(of), host(numbers(of, with_far_numbers)), a(host.a), b(host.b), c(host.c) {}

  // Some tiles have numbers that terms do not hold.
  static HostProblem numbers(const Sgemm& request, bool with_far_numbers) {
    HostProblem host = random_problem(to_column_major(request).problem, Distribution::signed_unit, 11);
    if (to_column_major(request).swapped) {
      std::swap(host.a, host.b);
    }
    if (with_far_numbers) {
      host.a.front() = host.b.back() = 0x1p60f;
    }
    return host;
  }

  std::vector<float> result(CUstream stream) const {
    std::vector<float> found(host.c.size());
    c.read(found, stream);
    c.write(host.c);
    return found;
  }
};

// One of its operands, prepared.
class PreparedMemory {
 public:
  PreparedMemory(const DeviceProduct& product, cuda::PreparedOperand which, CUstream stream)
      : is_a_(which == cuda::PreparedOperand::a),
        memory_(std::vector<char>(cuda::prepared_bytes(stream, product.request, which), '\xff')) {
    cuda::prepare(stream, product.request, which, (is_a_ ? product.a : product.b).data(), memory_.data());
  }
  float* data() const { return memory_.data(); }
  cuda::Prepared given() const { return is_a_ ? cuda::Prepared{.a = data()} : cuda::Prepared{.b = data()}; }

 private:
  bool is_a_;
  CudaMemory memory_;
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), sizeof(float) * a.size()) == 0;
}

constexpr cuda::PreparedOperand each_operand[] = {cuda::PreparedOperand::a, cuda::PreparedOperand::b};

TEST_P(CudaPrepared, HasTheBitsOfACallThatSplitsBoth) {
  const CUstream stream = make_stream();
  std::int64_t k = 200;
  for (const char* schedule : schedules()) {
    const Forced forced(schedule);
    ++k;  // a plan is kept for a problem
    for (const Precision precision : {Precision::f16x3, Precision::bf16x6}) {
      for (const Layout layout : {Layout::column_major, Layout::row_major}) {
        for (const Transpose b_op : {Transpose::no, Transpose::yes}) {
          Sgemm request = Sgemm::packed(layout, 300, 270, k, Transpose::no, b_op);
          request.precision = precision;
          request.level =
              layout == Layout::row_major ? Reproducibility::batch_invariant : Reproducibility::run_to_run;
          const DeviceProduct product(request, true);
          cuda::sgemm(stream, request, product.a.data(), product.b.data(), product.c.data());
          const std::vector<float> expected = product.result(stream);
          for (const cuda::PreparedOperand which : each_operand) {
            const PreparedMemory prepared(product, which, stream);
            cuda::sgemm_prepared(stream, request, product.a.data(), product.b.data(), product.c.data(),
                                 prepared.given());
            EXPECT_TRUE(same_bits(product.result(stream), expected))
                << schedule << (layout == Layout::row_major ? " by rows, " : " by columns, ")
                << (which == cuda::PreparedOperand::a ? "A" : "B") << " prepared";
          }
        }
      }
    }
  }
}

// As planned: also where the library computes in FP32. One B serves results of any height, and a batch.
TEST_P(CudaPrepared, KeepsTheBoundWhateverTheOtherOperand) {
  const CUstream stream = make_stream();
  Sgemm request = Sgemm::packed(Layout::row_major, 1, 1024, 512, Transpose::no, Transpose::yes);
  request.precision = Precision::f16x3;
  const DeviceProduct weights(request);
  const PreparedMemory prepared(weights, cuda::PreparedOperand::b, stream);
  for (const std::int64_t m : {1, 100, 700}) {
    for (const std::int64_t batch : {1, 3}) {
      request.m = m;
      request.batch = batch;
      request.a_stride = m * request.k;
      request.c_stride = m * request.n;
      EXPECT_EQ(cuda::prepared_bytes(stream, request, cuda::PreparedOperand::b),
                cuda::prepared_bytes(stream, weights.request, cuda::PreparedOperand::b));
      const DeviceProduct product(request);
      cuda::sgemm_prepared(stream, request, product.a.data(), weights.b.data(), product.c.data(),
                           prepared.given());
      const std::vector<float> c = product.result(stream);
      const Problem problem = to_column_major(request).problem;
      for (std::int64_t member = 0; member < batch; ++member) {
        const std::span<const float> a(product.host.a), all(c);
        const auto from_c = all.subspan(static_cast<std::size_t>(member * request.c_stride));
        EXPECT_TRUE(Oracle(problem, weights.host.b,
                           a.subspan(static_cast<std::size_t>(member * request.a_stride)), from_c)
                        .compare(from_c)
                        .ok())
            << m << " rows, member " << member << " of " << batch;
      }
    }
  }
}

TEST_P(CudaPrepared, IsCapturedInAGraph) {
  const CUstream stream = make_stream();
  const Forced forced("tensor_mma");
  Sgemm request = Sgemm::packed(Layout::column_major, 130, 140, 195);
  request.precision = Precision::bf16x6;
  const DeviceProduct product(request);
  cuda::sgemm(stream, request, product.a.data(), product.b.data(), product.c.data());
  const std::vector<float> expected = product.result(stream);
  const CudaMemory to(std::vector<char>(cuda::prepared_bytes(stream, request, cuda::PreparedOperand::a)));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  cuda::prepare(stream, request, cuda::PreparedOperand::a, product.a.data(), to.data());
  cuda::sgemm_prepared(stream, request, product.a.data(), product.b.data(), product.c.data(),
                       {.a = to.data()});
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiateWithFlags(&executable, graph, 0), cudaSuccess);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT_TRUE(same_bits(product.result(stream), expected));
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

// In memory that is lent, kernels are given addresses and no base.
TEST_P(CudaPrepared, ServesGroupsInWorkspaceThatIsLent) {
  const CUstream stream = make_stream();
  std::int64_t k = 295;
  for (const char* const kernel : {"tensor", "tensor_mma", "grouped"}) {
    for (const ElementType type : {ElementType::fp32, ElementType::bf16}) {
      SCOPED_TRACE(kernel);
      const Forced forced(kernel);
      Problem problem = problem_of(300, 200, ++k, "TN");
      problem.precision = Precision::f16x3;
      problem.b_type = type;
      GroupedProduct product(problem, {100, 110, 190}, 9);
      product.a[5] = infinity;
      const Sgemm request = product.request(Layout::row_major);
      const CudaMemory rows(stored(product.b, type)), matrices(product.a), c(product.c), ends(product.ends);
      const std::size_t bytes = cuda::sgemm_grouped_workspace_bytes(stream, request);
      const CudaMemory workspace((std::vector<char>(bytes)));
      cuda::sgemm_grouped(stream, request, ends.as<std::int32_t>(), rows.data(), matrices.data(), c.data(),
                          {}, {}, cuda::Workspace{workspace.data(), bytes});
      std::vector<float> found(product.c.size());
      c.read(found, stream);
      product.expect_right(found);
    }
  }
}

TEST_P(CudaPrepared, ServesGroups) {
  const CUstream stream = make_stream();
  std::int64_t k = 195;  // another for each kernel: plans are kept by the problem
  for (const char* const kernel : {"tensor", "tensor_mma", "grouped"}) {
    const Forced forced(kernel);
    Problem problem = problem_of(300, 200, ++k, "TN");
    problem.precision = Precision::f16x3;
    GroupedProduct product(problem, {100, 110, 190}, 9);
    product.a[5] = infinity;
    const Sgemm request = product.request(Layout::row_major);
    const CudaMemory rows(product.b), matrices(product.a), c(product.c), ends(product.ends);
    Sgemm batch = request;
    batch.a_stride = batch.m * batch.lda;
    batch.c_stride = batch.m * batch.ldc;
    const CudaMemory to(std::vector<char>(cuda::prepared_bytes(stream, batch, cuda::PreparedOperand::b)));
    cuda::prepare(stream, batch, cuda::PreparedOperand::b, matrices.data(), to.data());
    cuda::sgemm_grouped(stream, request, ends.as<std::int32_t>(), rows.data(), matrices.data(), c.data(),
                        {.b = to.data()});
    std::vector<float> found(product.c.size());
    c.read(found, stream);
    product.expect_right(found);
    EXPECT_EQ(refusal([&] {
                cuda::sgemm_grouped(stream, request, ends.as<std::int32_t>(), rows.data(), matrices.data(),
                                    c.data(), {.a = to.data()});
              }),
              "the operand whose rows or columns are in groups is prepared; the other may be");
  }
}

TEST_P(CudaPrepared, IsThereInC) {
  Sgemm request = Sgemm::packed(Layout::column_major, 64, 48, 32);
  request.precision = Precision::f16x3;
  const DeviceProduct product(request);
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.m = problem.lda = problem.ldc = 64;
  problem.n = 48;
  problem.k = problem.ldb = 32;
  problem.precision = DUOGEMM_F16X3;
  std::size_t bytes = 0;
  ASSERT_EQ(duogemm_cuda_prepared_bytes(nullptr, &problem, DUOGEMM_OPERAND_B, &bytes), DUOGEMM_SUCCESS);
  EXPECT_EQ(bytes, cuda::prepared_bytes(nullptr, request, cuda::PreparedOperand::b));
  const CudaMemory to(std::vector<char>(bytes, '\xff'));
  ASSERT_EQ(duogemm_cuda_prepare(nullptr, &problem, DUOGEMM_OPERAND_B, product.b.data(), to.data()),
            DUOGEMM_SUCCESS);
  ASSERT_EQ(duogemm_cuda_sgemm_prepared(nullptr, &problem, product.a.data(), product.b.data(),
                                        product.c.data(), nullptr, to.data()),
            DUOGEMM_SUCCESS);
  const std::vector<float> c = product.result(nullptr);
  EXPECT_TRUE(Oracle(to_column_major(request).problem, product.host.a, product.host.b, c).compare(c).ok());
}

TEST_P(CudaPrepared, RefusesMemoryThatDoesNotDo) {
  Sgemm request = Sgemm::packed(Layout::column_major, 64, 48, 32);
  request.precision = Precision::f16x3;
  const DeviceProduct product(request);
  const PreparedMemory prepared(product, cuda::PreparedOperand::a, nullptr);
  const auto refused = [&](const float* matrix, float* to) {
    return refusal([&] { cuda::prepare(nullptr, request, cuda::PreparedOperand::a, matrix, to); });
  };
  EXPECT_EQ(refused(nullptr, prepared.data()), "the matrix to prepare is null");
  EXPECT_EQ(refused(product.a.data(), nullptr), "the memory of the prepared operand is null");
  EXPECT_EQ(refused(product.a.data(), prepared.data() + 1),
            "the memory of the prepared operand is not at a multiple of 256 bytes");
  EXPECT_EQ(refusal([&] {
              cuda::sgemm_prepared(nullptr, request, product.a.data(), product.b.data(), product.c.data(),
                                   {.a = prepared.data() + 1});
            }),
            "the prepared A is not at a multiple of 256 bytes");
}

TEST(CudaPreparedAnywhere, RefusesWhatNoDeviceDoes) {
  Sgemm request = Sgemm::packed(Layout::column_major, 8, 8, 8);
  float c = 0.0f;
  const auto multiply = [&](const cuda::Prepared& prepared) {
    return refusal([&] { cuda::sgemm_prepared(nullptr, request, &c, &c, &c, prepared); });
  };
  const std::string in_fp32 = "precision is fp32; an operand is prepared for bf16x6 or f16x3";
  for (const cuda::PreparedOperand which : each_operand) {
    EXPECT_EQ(refusal([&] { cuda::prepared_bytes(nullptr, request, which); }), in_fp32);
    EXPECT_EQ(refusal([&] { cuda::prepare(nullptr, request, which, &c, &c); }), in_fp32);
  }
  EXPECT_EQ(multiply({.a = &c}), in_fp32);
  request.precision = Precision::f16x3;
  EXPECT_EQ(multiply({.a = &c, .b = &c}), "both operands are prepared; one may be");
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.precision = DUOGEMM_F16X3;
  std::size_t bytes = 0;
  duogemm_operand which = DUOGEMM_OPERAND_A;
  const int wrong = 2;
  std::memcpy(&which, &wrong, sizeof which);
  EXPECT_EQ(duogemm_cuda_prepared_bytes(nullptr, &problem, which, &bytes), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "which is 2; it must be 0 or 1");
}

#if CUDA_VERSION >= 12050
template <typename Function>
Function* driver_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), name));
}
#define DRIVER_FUNCTION(name) driver_function<decltype(name)>(#name)

TEST_P(CudaNative, PlansForTheMultiprocessorsOfAGreenContext) {
  auto* const create = DRIVER_FUNCTION(cuGreenCtxCreate);
  if (create == nullptr) {
    GTEST_SKIP() << "the driver has no green contexts";
  }
  const cuda::CurrentContext current(context_);
  const CUdevice device = cuda::device_at(0);
  CUdevResource all{}, part{};
  ASSERT_EQ(DRIVER_FUNCTION(cuDeviceGetDevResource)(device, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
  unsigned parts = 1;
  ASSERT_EQ(DRIVER_FUNCTION(cuDevSmResourceSplitByCount)(&part, &parts, &all, nullptr, 0, all.sm.smCount / 3),
            CUDA_SUCCESS);
  CUdevResourceDesc description = nullptr;
  ASSERT_EQ(DRIVER_FUNCTION(cuDevResourceGenerateDesc)(&description, &part, 1), CUDA_SUCCESS);
  CUgreenCtx green = nullptr;
  ASSERT_EQ(create(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(DRIVER_FUNCTION(cuCtxFromGreenCtx)(&context, green), CUDA_SUCCESS);
  const auto borrowed = std::make_shared<const cuda::DeviceContext>(context);
  EXPECT_EQ(cuda::borrow_context(borrowed)->info().compute_units, part.sm.smCount);
  EXPECT_LT(part.sm.smCount, all.sm.smCount);
  CUstream stream = nullptr;
  ASSERT_EQ(DRIVER_FUNCTION(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
  CUcontext of_stream = nullptr;
  DUOGEMM_CUDA(cuStreamGetCtx(stream, &of_stream));
  EXPECT_EQ(of_stream, context);
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    check(seed, stream, false);
  }
}
#endif

TEST(CudaWithoutADriver, SaysSo) {
  if (cuda::driver() != nullptr) {
    GTEST_SKIP() << "there is a driver";
  }
  float c = 0.0f;
  EXPECT_NE(refusal([&] { cuda::sgemm(nullptr, {.m = 1, .n = 1, .k = 1}, &c, &c, &c); }, Status::unsupported),
            "accepted");
}

INSTANTIATE_TEST_SUITE_P(Devices, CudaPrepared, ::testing::Values("cuda0"),
                         [](const auto& info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(Devices, CudaNative, ::testing::Values("cuda0"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace duogemm::testing
