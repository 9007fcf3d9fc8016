// What the call on host memory leaves alone: memory outside the matrices, which may be another thread's or
// not be there at all.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <thread>

#include "api/host_call.h"
#include "context_test.h"
#include "device/device_selection.h"
#include "product.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class HostMemory : public ContextTest {};

// Floats that end where pages begin that nobody may touch, or begin where such pages end.
class Fenced {
 public:
  enum class At { begin, end };

  Fenced(std::size_t count, At at) : bytes_(sizeof(float) * count) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inside = (bytes_ + page - 1) / page * page;
    whole_ = inside + 2 * page;
    memory_ =
        static_cast<char*>(mmap(nullptr, whole_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED || mprotect(memory_, page, PROT_NONE) != 0 ||
        mprotect(memory_ + page + inside, page, PROT_NONE) != 0) {
      throw std::bad_alloc();
    }
    first_ = memory_ + page + (at == At::end ? inside - bytes_ : 0);
  }
  ~Fenced() { munmap(memory_, whole_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;

  float* data() { return reinterpret_cast<float*>(first_); }

 private:
  std::size_t bytes_;
  std::size_t whole_;
  char* memory_;
  char* first_;
};

struct Size {
  std::int64_t m, n, k;
};
constexpr Size sizes[] = {{1, 1, 1},    {1, 70, 90},   {70, 1, 90},  {3, 5, 7},     {65, 33, 129},
                          {17, 100, 3}, {130, 50, 70}, {300, 2, 40}, {97, 101, 700}};

constexpr Transpose both[] = {Transpose::no, Transpose::yes};

TEST_P(HostMemory, NothingOutsideTheMatricesIsTouched) {
  for (const auto at : {Fenced::At::begin, Fenced::At::end}) {
    for (const Size& size : sizes) {
      for (int ops = 0; ops < 4; ++ops) {
        Problem p = Problem::packed(size.m, size.n, size.k, 1.5f, 0.0f);
        p.a_op = both[ops / 2];
        p.b_op = both[ops % 2];
        p.lda = p.a_rows() + 3;
        p.ldb = p.b_rows() + 1;
        p.ldc = p.m + 5;
        const HostProblem host = random_problem(p, Distribution::signed_unit, 1);
        const auto a_size = static_cast<std::size_t>(p.a_extent());
        const auto b_size = static_cast<std::size_t>(p.b_extent());
        const auto c_size = static_cast<std::size_t>(p.c_extent());
        Fenced a(a_size, at);
        Fenced b(b_size, at);
        Fenced c(c_size, at);
        std::copy_n(host.a.begin(), a_size, a.data());
        std::copy_n(host.b.begin(), b_size, b.data());
        std::copy_n(host.c.begin(), c_size, c.data());
        context_->sgemm(request_of(p), a.data(), b.data(), c.data());
        std::vector<float> result = host.c;
        std::copy_n(c.data(), c_size, result.begin());
        const Verdict found = Oracle(p, host.a, host.b, host.c).compare(result);
        EXPECT_TRUE(found.ok()) << p.m << " " << p.n << " " << p.k << " ops " << ops;
      }
    }
  }
}

// Each thread's C stands in the gaps of the others' columns.
TEST_P(HostMemory, GapsBelongToOtherThreads) {
  constexpr std::int64_t threads = 4;
  constexpr std::int64_t rows = 37;
  constexpr std::int64_t cols = 60;
  std::vector<float> whole(static_cast<std::size_t>(threads * rows * cols));
  std::vector<std::jthread> running;
  for (std::int64_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      const Product product(rows, cols, 50, static_cast<std::uint32_t>(t));
      const HostProblem& host = product.host();
      float* const mine = whole.data() + t * rows;
      Sgemm request = product.request();
      request.ldc = threads * rows;
      for (int round = 0; round < 200; ++round) {
        for (std::int64_t col = 0; col < cols; ++col) {
          std::copy_n(host.c.data() + col * rows, rows, mine + col * request.ldc);
        }
        context_->sgemm(request, host.a.data(), host.b.data(), mine);
        std::vector<float> result;
        for (std::int64_t col = 0; col < cols; ++col) {
          result.insert(result.end(), mine + col * request.ldc, mine + col * request.ldc + rows);
        }
        ASSERT_TRUE(product.is(result)) << "thread " << t << ", round " << round;
      }
    });
  }
}

// Eight threads share A and B, and each has sizes and scalars of its own.
TEST_P(HostMemory, ThreadsReadTheSameOperands) {
  const Product most(90, 80, 70, 5);
  std::vector<std::jthread> running;
  for (std::int64_t t = 0; t < 8; ++t) {
    running.emplace_back([&, t] {
      Problem p = most.host().problem;
      p.m -= 7 * t;
      p.n -= 3 * t;
      p.k -= t;
      p.alpha += static_cast<float>(t);
      p.beta = t % 2 == 0 ? 0.0f : p.beta;
      const Oracle oracle(p, most.host().a, most.host().b, most.host().c);
      for (int round = 0; round < 50; ++round) {
        std::vector<float> c = most.host().c;
        if (p.beta == 0.0f) {
          for (std::int64_t col = 0; col < p.n; ++col) {
            std::fill_n(c.begin() + col * p.ldc, p.m, nan);
          }
        }
        context_->sgemm(request_of(p), most.host().a.data(), most.host().b.data(), c.data());
        ASSERT_TRUE(oracle.compare(c).ok()) << "thread " << t << ", round " << round;
      }
    });
  }
}

// The way of devices with memory of their own, which any device can go: matrices of more than one piece of
// staging, with columns that begin in one piece and end in the next.
class HostCopies : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    if (const std::string missing = GetParam().missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    runtime_ = std::make_unique<Runtime>(open_selected_device(GetParam().selection()));
    call_ = multiply_copies(*runtime_, {});
  }

  void check(Problem p, std::uint32_t seed) {
    p.level = Reproducibility::everywhere;
    const HostProblem host = random_problem(p, Distribution::signed_unit, seed);
    std::vector<float> c = host.c;
    call_->multiply(p, {.a = host.a.data(), .b = host.b.data(), .c = c.data()}, {});
    const Verdict found = Oracle(p, host.a, host.b, host.c).compare(c);
    EXPECT_TRUE(found.exact()) << found.fault();
  }

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<HostCall> call_;
};

Problem with_gaps(const Size& size, float beta) {
  Problem p = Problem::packed(size.m, size.n, size.k, 1.5f, beta);
  p.lda += 3;
  p.ldb += 1;
  p.ldc += 5;
  return p;
}

TEST_P(HostCopies, OfSeveralPieces) {
  check(with_gaps({1'100'000, 3, 1}, 0.5f), 1);
  check(with_gaps({1500, 1501, 5}, 0.0f), 2);
  check(with_gaps({5, 7, 300'001}, 1.0f), 3);
}

TEST_P(HostCopies, OfSeveralThreads) {
  std::vector<std::jthread> running;
  for (std::uint32_t t = 0; t < 8; ++t) {
    running.emplace_back([&, t] {
      for (const Size& size : sizes) {
        check(with_gaps(size, t % 2 == 0 ? 0.0f : 2.0f), t);
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, HostMemory, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });
INSTANTIATE_TEST_SUITE_P(Devices, HostCopies, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });

}  // namespace
}  // namespace duogemm::testing
