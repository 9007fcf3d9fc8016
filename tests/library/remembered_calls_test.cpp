// Calls on host memory whose sizes a thread has asked for before: the device cpu computes them without
// checking them anew.
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "check/inputs.h"
#include "check/oracle.h"
#include "duogemm/sgemm.hpp"
#include "problem/problem.h"

namespace duogemm::testing {
namespace {

// Matrices begin `shift` floats after their memory.
void check(Context& context, const Problem& p, Layout layout, std::ptrdiff_t shift) {
  const HostProblem host = random_problem(p, Distribution::signed_unit, static_cast<std::uint32_t>(shift));
  const auto shifted = [&](const std::vector<float>& matrix) {
    std::vector<float> memory(static_cast<std::size_t>(shift));
    memory.insert(memory.end(), matrix.begin(), matrix.end());
    return memory;
  };
  const std::vector<float> a = shifted(host.a), b = shifted(host.b);
  std::vector<float> c = shifted(host.c);
  Sgemm call = request_of(p);
  const float* first = a.data() + shift;
  const float* second = b.data() + shift;
  if (layout == Layout::row_major) {
    swap_operands(call);
    call.layout = layout;
    std::swap(first, second);
  }
  context.sgemm(call, first, second, c.data() + shift);
  EXPECT_TRUE(Oracle(p, host.a, host.b, host.c).compare({c.begin() + shift, c.end()}).ok())
      << p.m << " x " << p.n << " x " << p.k << ", alpha " << p.alpha << ", beta " << p.beta;
}

TEST(RememberedCalls, AreRightWhateverElseIsNew) {
  Context context("cpu");
  for (const auto& [m, n, k] : {std::tuple(5, 7, 3), {40, 30, 20}, {100, 40, 33}}) {
    for (int time = 0; time < 2; ++time) {
      for (const auto& [alpha, beta] :
           {std::pair(1.0f, 0.0f), {-0.5f, 0.0f}, {2.0f, 0.5f}, {-1.0f, -3.0f}, {0.0f, 0.5f}}) {
        for (const Layout layout : {Layout::column_major, Layout::row_major}) {
          for (const std::ptrdiff_t shift : {0, 1, 4}) {
            check(context, Problem::packed(m, n, k, alpha, beta), layout, shift);
          }
        }
      }
    }
  }
}

TEST(RememberedCalls, AreRefusedLikeOthers) {
  Context context("cpu");
  const Problem p = Problem::packed(5, 7, 3);
  check(context, p, Layout::column_major, 0);
  const Sgemm call = request_of(p);
  std::vector<float> matrix(64);
  EXPECT_THROW(context.sgemm(call, nullptr, matrix.data(), matrix.data()), Error);
  EXPECT_THROW(context.sgemm(call, matrix.data(), matrix.data(), nullptr), Error);
  Sgemm wrong = call;
  wrong.lda = 4;
  EXPECT_THROW(context.sgemm(wrong, matrix.data(), matrix.data(), matrix.data()), Error);
}

TEST(RememberedCalls, AreEachThreadsOwn) {
  Context context("cpu");
  std::vector<std::jthread> threads;
  for (int number = 1; number <= 4; ++number) {
    threads.emplace_back([&context, number] {
      const auto factor = static_cast<float>(number);
      for (int time = 0; time < 100; ++time) {
        check(context, Problem::packed(5, 7, 3, factor, -factor), Layout::column_major, 0);
      }
    });
  }
}

// What a thread remembers may be gone when the last of it calls.
TEST(RememberedCalls, MayComeWhenTheThreadEnds) {
  struct AtEnd {
    ~AtEnd() { call(); }
    std::function<void()> call;
  };
  Context context("cpu");
  int calls = 0;
  std::thread([&] {
    const auto call = [&] {
      check(context, Problem::packed(5, 7, 3), Layout::column_major, 0);
      ++calls;
    };
    thread_local AtEnd at_end{call};
    at_end.call();
    call();
  }).join();
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace duogemm::testing
