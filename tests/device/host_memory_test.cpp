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

#include "context_test.h"
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

// Calls that differ in where their matrices begin alone.
void expect_right_at_any_address(const Problem& problem,
                                 const std::function<void(std::vector<Shifted>& a, std::vector<Shifted>& b,
                                                          std::vector<Shifted>& c)>& multiply) {
  constexpr std::size_t members = 3;
  const HostProblem host = random_problem(problem, Distribution::signed_unit, 1);
  for (const auto& [shift_a, shift_b, shift_c] : {std::tuple(1, 2, 3), {0, 0, 1}, {2, 0, 0}, {0, 3, 4}}) {
    std::vector<Shifted> a, b, c;
    for (std::size_t i = 0; i < members; ++i) {
      a.emplace_back(host.a, (static_cast<std::size_t>(shift_a) + i) % 4);
      b.emplace_back(host.b, (static_cast<std::size_t>(shift_b) + 3 * i) % 4);
      c.emplace_back(host.c, (static_cast<std::size_t>(shift_c) + 2 * i) % 4);
    }
    multiply(a, b, c);
    const Oracle oracle(problem, host.a, host.b, host.c);
    for (const Shifted& result : c) {
      EXPECT_TRUE(oracle.compare(result.floats()).exact())
          << problem.m << " " << problem.n << " " << problem.k << " at bytes " << shift_a << " " << shift_b
          << " " << shift_c;
      EXPECT_TRUE(result.nothing_around_changed());
    }
  }
}

std::vector<Problem> problems_at_any_address() {
  std::vector<Problem> problems;
  for (const Size& size : sizes) {
    for (const float alpha : {1.5f, 0.0f}) {
      Problem p = Problem::packed(size.m, size.n, size.k, alpha, 0.5f);
      p.level = Reproducibility::everywhere;
      problems.push_back(p);
      p.a_op = p.b_op = Transpose::yes;
      p.lda = p.k + 1;
      p.ldb = p.n + 2;
      p.ldc = p.m + 3;
      problems.push_back(p);
    }
  }
  return problems;
}

template <typename Pointer>
std::vector<Pointer> list_of(std::vector<Shifted>& matrices) {
  std::vector<Pointer> list;
  for (Shifted& matrix : matrices) {
    list.push_back(matrix.data());
  }
  return list;
}

TEST_P(HostMemory, BeginsAtAnyAddress) {
  for (const Problem& problem : problems_at_any_address()) {
    expect_right_at_any_address(problem, [&](auto& a, auto& b, auto& c) {
      for (std::size_t i = 0; i < c.size(); ++i) {
        context_->sgemm(request_of(problem), a[i].data(), b[i].data(), c[i].data());
      }
    });
    expect_right_at_any_address(problem, [&](auto& a, auto& b, auto& c) {
      Sgemm request = request_of(problem);
      request.batch = static_cast<std::int64_t>(c.size());
      context_->sgemm_batched(request, list_of<const float*>(a).data(), list_of<const float*>(b).data(),
                              list_of<float*>(c).data());
    });
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

// The way of devices with memory of their own, which any device can go: matrices of more than one piece of
// staging, with columns that begin in one piece and end in the next.
class HostCopies : public ::testing::TestWithParam<DeviceName> {
 protected:
  void SetUp() override {
    if (const std::string missing = GetParam().missing(); !missing.empty()) {
      GTEST_SKIP() << missing;
    }
    runtime_ = std::make_unique<Runtime>(GetParam().backend->open(GetParam().index, {}));
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

TEST_P(HostCopies, BeginAtAnyAddress) {
  for (const Problem& problem : problems_at_any_address()) {
    expect_right_at_any_address(problem, [&](auto& a, auto& b, auto& c) {
      for (std::size_t i = 0; i < c.size(); ++i) {
        call_->multiply(problem, {.a = a[i].data(), .b = b[i].data(), .c = c[i].data()}, {});
      }
    });
    expect_right_at_any_address(problem, [&](auto& a, auto& b, auto& c) {
      Problem listed = problem;
      listed.batch = static_cast<std::int64_t>(c.size());
      listed.batch_by = BatchBy::addresses;
      const auto list_a = list_of<const float*>(a);
      const auto list_b = list_of<const float*>(b);
      const auto list_c = list_of<float*>(c);
      call_->multiply(listed, {.a_list = list_a.data(), .b_list = list_b.data(), .c_list = list_c.data()},
                      {});
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, HostMemory, ::testing::ValuesIn(test_devices()), device_name);
INSTANTIATE_TEST_SUITE_P(Devices, HostCopies, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
