// The call on host memory leaves alone the memory outside the matrices, which may be another thread's or
// not be there at all.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <span>
#include <thread>
#include <tuple>

#include "device/device_selection.h"
#include "draw.h"
#include "host_memory/host_call.h"
#include "product.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

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

TEST_P(HostMemory, NothingOutsideTheMatricesIsTouched) {
  for (const auto at : {Fenced::At::begin, Fenced::At::end}) {
    for (const Size& size : sizes) {
      for (int ops = 0; ops < 4; ++ops) {
        Problem p = Problem::packed(size.m, size.n, size.k, 1.5f, 0.0f);
        p.a_op = ops / 2 == 0 ? Transpose::no : Transpose::yes;
        p.b_op = ops % 2 == 0 ? Transpose::no : Transpose::yes;
        p.lda = p.a_rows() + 3;
        p.ldb = p.b_rows() + 1;
        p.ldc = p.m + 5;
        const HostProblem host = random_problem(p, Distribution::signed_unit, 1);
        Fenced a(host.a.size(), at);
        Fenced b(host.b.size(), at);
        Fenced c(host.c.size(), at);
        std::ranges::copy(host.a, a.data());
        std::ranges::copy(host.b, b.data());
        std::ranges::copy(host.c, c.data());
        context_->sgemm(request_of(p), a.data(), b.data(), c.data());
        const std::vector<float> result(c.data(), c.data() + host.c.size());
        const Verdict found = Oracle(p, host.a, host.b, host.c).compare(result);
        EXPECT_TRUE(found.ok()) << p.m << " " << p.n << " " << p.k << " ops " << ops;
      }
    }
  }
}

// Floats that begin some bytes after a multiple of their size, with more around them.
class Shifted {
 public:
  Shifted(std::span<const float> floats, std::size_t shift)
      : count_(floats.size()),
        begin_(around + shift),
        memory_(floats.size_bytes() + 2 * around + shift, filling) {
    std::memcpy(memory_.data() + begin_, floats.data(), floats.size_bytes());
  }
  float* data() { return reinterpret_cast<float*>(memory_.data() + begin_); }
  std::vector<float> floats() const {
    std::vector<float> copy(count_);
    std::memcpy(copy.data(), memory_.data() + begin_, sizeof(float) * count_);
    return copy;
  }
  bool nothing_around_changed() const {
    const auto is_filling = [](char byte) { return byte == filling; };
    const auto first = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
    return std::all_of(memory_.begin(), first, is_filling) &&
           std::all_of(first + static_cast<std::ptrdiff_t>(sizeof(float) * count_), memory_.end(),
                       is_filling);
  }

 private:
  static constexpr std::size_t around = 64;
  static constexpr char filling = 0x5a;
  std::size_t count_;
  std::size_t begin_;
  std::vector<char> memory_;
};

std::vector<float*> list_of(std::vector<Shifted>& matrices) {
  std::vector<float*> list;
  for (Shifted& matrix : matrices) {
    list.push_back(matrix.data());
  }
  return list;
}

// A call of one member, or of a batch by addresses.
using Call =
    std::function<void(const Problem&, const float* const* a, const float* const* b, float* const* c)>;

// Calls that differ in where their matrices begin alone.
void expect_right_at_any_address(const Problem& problem, bool listed, const Call& multiply) {
  constexpr std::size_t members = 3;
  const HostProblem host = random_problem(problem, Distribution::signed_unit, 1);
  for (const auto& [shift_a, shift_b, shift_c] : {std::tuple(1, 2, 3), {0, 0, 1}, {2, 0, 0}, {0, 3, 4}}) {
    std::vector<Shifted> a, b, c;
    for (std::size_t i = 0; i < members; ++i) {
      a.emplace_back(host.a, (static_cast<std::size_t>(shift_a) + i) % 4);
      b.emplace_back(host.b, (static_cast<std::size_t>(shift_b) + 3 * i) % 4);
      c.emplace_back(host.c, (static_cast<std::size_t>(shift_c) + 2 * i) % 4);
    }
    const std::vector<float*> list_a = list_of(a), list_b = list_of(b), list_c = list_of(c);
    Problem batch = problem;
    batch.batch = listed ? members : 1;
    batch.batch_by = listed ? BatchBy::addresses : BatchBy::strides;
    for (std::size_t i = 0; i < members; i += index(batch.batch)) {
      multiply(batch, &list_a[i], &list_b[i], &list_c[i]);
    }
    const Oracle oracle(problem, host.a, host.b, host.c);
    for (const Shifted& result : c) {
      EXPECT_TRUE(oracle.compare(result.floats()).exact())
          << problem.m << " " << problem.n << " " << problem.k << " at bytes " << shift_a << " " << shift_b
          << " " << shift_c;
      EXPECT_TRUE(result.nothing_around_changed());
    }
  }
}

void expect_right_at_any_address(const Call& multiply) {
  for (const Size& size : sizes) {
    for (const float alpha : {1.5f, 0.0f}) {
      Problem p = Problem::packed(size.m, size.n, size.k, alpha, 0.5f);
      p.level = Reproducibility::everywhere;
      Problem transposed = p;
      transposed.a_op = transposed.b_op = Transpose::yes;
      transposed.lda = p.k + 1;
      transposed.ldb = p.n + 2;
      transposed.ldc = p.m + 3;
      for (const bool listed : {false, true}) {
        expect_right_at_any_address(p, listed, multiply);
        expect_right_at_any_address(transposed, listed, multiply);
      }
    }
  }
}

TEST_P(HostMemory, BeginsAtAnyAddress) {
  expect_right_at_any_address([&](const Problem& p, auto* a, auto* b, auto* c) {
    if (p.batch_by == BatchBy::addresses) {
      context_->sgemm_batched(request_of(p), a, b, c);
    } else {
      context_->sgemm(request_of(p), *a, *b, *c);
    }
  });
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

// The way of devices with memory of their own, which any device can go: matrices of more than one piece of
// staging, with columns that begin in one piece and end in the next.
class HostCopies : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    runtime_ = std::make_unique<Runtime>(GetParam().backend->open(GetParam().index, {}));
    call_ = multiply_copies(*runtime_, {});
  }

  void check(const Size& size, float beta) {
    Problem p = Problem::packed(size.m, size.n, size.k, 1.5f, beta);
    p.lda += 3;
    p.ldb += 1;
    p.ldc += 5;
    p.level = Reproducibility::everywhere;
    const HostProblem host = random_problem(p, Distribution::signed_unit, 1);
    std::vector<float> c = host.c;
    call_->multiply(p, {.a = host.a.data(), .b = host.b.data(), .c = c.data()}, {});
    const Verdict found = Oracle(p, host.a, host.b, host.c).compare(c);
    EXPECT_TRUE(found.exact()) << found.fault();
  }

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<HostCall> call_;
};

TEST_P(HostCopies, OfSeveralPieces) {
  check({1'100'000, 3, 1}, 0.5f);
  check({1500, 1501, 5}, 0.0f);
  check({5, 7, 300'001}, 1.0f);
}

TEST_P(HostCopies, BeginAtAnyAddress) {
  expect_right_at_any_address([&](const Problem& p, auto* a, auto* b, auto* c) {
    call_->multiply(p,
                    p.batch_by == BatchBy::addresses ? HostOperands{.a_list = a, .b_list = b, .c_list = c}
                                                     : HostOperands{.a = *a, .b = *b, .c = *c},
                    {});
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, HostMemory, ::testing::ValuesIn(test_devices()), device_name);
INSTANTIATE_TEST_SUITE_P(Devices, HostCopies, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
