// The call on host memory and fork(2). The test's own process never comes near a device: what a test does, it
// does in children.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "device/backend.h"
#include "duogemm/sgemm.hpp"
#include "refusal.h"

namespace duogemm::testing {
namespace {

constexpr int no_device = 77;

pid_t start_child(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // where nothing answers any more
    const int status = work();
    std::exit(::testing::Test::HasFailure() ? 1 : status);  // as programs end, and not at once
  }
  return child;
}

// The exit status; nothing when the child was killed.
std::optional<int> wait_for(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? std::optional(WEXITSTATUS(status))
                                                                  : std::nullopt;
}

std::optional<int> run_child(const std::function<int()>& work) { return wait_for(start_child(work)); }

const Sgemm one_by_one{.m = 1, .n = 1, .k = 1};
const float three = 3.0f;
const float* const list_of_three = &three;

void expect_product(const std::function<void(float*)>& multiply) {
  float c = 0.0f;
  multiply(&c);
  EXPECT_EQ(c, 9.0f);
}

void expect_refused(const std::function<void(float*)>& use) {
  float c = 7.0f;
  const std::string said = refusal([&] { use(&c); }, Status::unsupported);
  EXPECT_NE(said.find("forked"), std::string::npos) << said;
  EXPECT_EQ(c, 7.0f);
}

void multiply_by_default(float* c) { sgemm(one_by_one, &three, &three, c); }

// In a child: drivers are refused there, and a device without one goes on.
void expect_served_without_driver(const std::function<void(float*)>& use, const Backend& backend) {
  (backend.has_driver() ? expect_refused : expect_product)(use);
}

class Fork : public ::testing::TestWithParam<const Backend*> {
 protected:
  void SetUp() override {
    setenv("DUOGEMM_DEVICE", name_.c_str(), 1);
    const auto count_devices = [] { return GetParam()->devices().empty() ? no_device : 0; };
    if (run_child(count_devices) == no_device) {
      GTEST_SKIP() << "no " << name_ << " device was found";
    }
  }
  void TearDown() override { unsetenv("DUOGEMM_DEVICE"); }

  const std::string name_{GetParam()->name()};
};

TEST_P(Fork, LeavesEveryContextToTheParent) {
  const auto be_parent = [&] {
    auto context = std::make_unique<Context>(name_);
    const auto multiply = [&](float* c) { context->sgemm(one_by_one, &three, &three, c); };
    const auto be_child = [&] {
      for (int again = 0; again < 2; ++again) {
        expect_served_without_driver(multiply_by_default, *GetParam());
        expect_served_without_driver(
            [](float* c) { sgemm_batched(one_by_one, &list_of_three, &list_of_three, &c); }, *GetParam());
        expect_served_without_driver(multiply, *GetParam());
      }
      sgemm(Sgemm{}, nullptr, nullptr, nullptr);  // nothing to do needs no device
      EXPECT_NE(context->device_name(), "");
      context.reset();
      expect_served_without_driver(
          [&](float* c) {
            Context another(name_);
            another.sgemm(one_by_one, &three, &three, c);
          },
          *GetParam());
      return 0;
    };
    expect_product(multiply_by_default);
    expect_product(multiply);
    EXPECT_EQ(run_child(be_child), 0);
    expect_product(multiply_by_default);
    expect_product(multiply);
    return 0;
  };
  EXPECT_EQ(run_child(be_parent), 0);
}

TEST_P(Fork, ServesChildrenThatBeginAfterIt) {
  const auto be_child = [&] {
    expect_product(multiply_by_default);
    Context own(name_);
    expect_product([&](float* c) { own.sgemm(one_by_one, &three, &three, c); });
    return 0;
  };
  const auto be_parent = [&] {
    const pid_t first = start_child(be_child);
    const pid_t second = start_child(be_child);
    EXPECT_EQ(be_child(), 0);
    EXPECT_EQ(wait_for(first), 0);
    EXPECT_EQ(wait_for(second), 0);
    return 0;
  };
  EXPECT_EQ(run_child(be_parent), 0);
}

// A product that several threads share, of ones.
void expect_large_product(Context& context) {
  constexpr std::int64_t size = 300;
  const std::vector<float> ones(size * size, 1.0f);
  std::vector<float> c(size * size);
  context.sgemm({.m = size, .n = size, .k = size, .lda = size, .ldb = size, .ldc = size}, ones.data(),
                ones.data(), c.data());
  EXPECT_EQ(c, std::vector<float>(size * size, size));
}

// The children have none of the parent's threads, some of which are at work, or plan, while it forks.
TEST(ForkOfManyThreads, IsServedByThreadsOfItsOwn) {
  const auto be_parent = [] {
    setenv("DUOGEMM_THREADS", "3", 1);
    Context context("cpu");
    std::atomic<bool> done = false;
    std::vector<std::jthread> callers;
    for (int i = 0; i < 3; ++i) {
      callers.emplace_back([&, i] {
        for (std::int64_t k = 1; !done; ++k) {
          constexpr std::int64_t ld = 100;
          const std::vector<float> ones(ld * ld, 1.0f);
          std::vector<float> c(ld * ld);
          const Sgemm new_one{.m = 10 + i, .n = 10, .k = k % ld + 1, .lda = ld, .ldb = ld, .ldc = ld};
          context.sgemm(new_one, ones.data(), ones.data(), c.data());
          expect_large_product(context);
        }
      });
    }
    std::vector<pid_t> children;
    for (int i = 0; i < 20; ++i) {
      children.push_back(start_child([&] {
        expect_large_product(context);
        expect_large_product(context);
        std::_Exit(::testing::Test::HasFailure() ? 1 : 0);
        return 0;
      }));
    }
    for (const pid_t child : children) {
      EXPECT_EQ(wait_for(child), 0);
    }
    done = true;
    return 0;
  };
  EXPECT_EQ(run_child(be_parent), 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, Fork, ::testing::ValuesIn(backends()),
                         [](const auto& info) { return std::string(info.param->name()); });

}  // namespace
}  // namespace duogemm::testing
