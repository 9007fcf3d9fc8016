// Netlib's drivers do not ask this of the drop-in library, in a program that has it by link order, and after
// it a BLAS that only notes its calls.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "files.h"
#include "noting_blas.h"
#include "system/temporary_directory.h"

// As any caller declares them, the hidden lengths of strings left away.
extern "C" {
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
            const int*, const float*, const int*, const float*, float*, const int*);
void sgemm_batch_strided_(const char*, const char*, const int*, const int*, const int*, const float*,
                          const float*, const int*, const int*, const float*, const int*, const int*,
                          const float*, float*, const int*, const int*, const int*);
void cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*,
                 int);
void cblas_sgemm_batch_strided(int, int, int, int, int, int, float, const float*, int, int, const float*, int,
                               int, float, float*, int, int, int);
}

namespace {

constexpr int row_major = 101;
constexpr int col_major = 102;
constexpr int no_trans = 111;
constexpr int trans = 112;

// A batch in an array around it. Elements are small integers, so that every right result is exact.
struct Batch {
  int ld;
  int stride;
  std::vector<float> array = std::vector<float>(4096);

  Batch(int ld_, int stride_, int seed) : ld(ld_), stride(stride_) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      array[i] = static_cast<float>((static_cast<int>(i) * 7 + seed) % 17 - 8);
    }
  }

  // The middle, for strides of either sign.
  float* data() { return array.data() + array.size() / 2; }
  float& at(int member, int along, int across) { return data()[member * stride + across * ld + along]; }
};

struct Case {
  int layout = col_major;
  int a_op = no_trans;
  int b_op = no_trans;
  int a_stride = 40;
  int b_stride = 50;
  int c_stride = 60;
  int batch = 3;
};

constexpr int m = 5;
constexpr int n = 4;
constexpr int k = 3;
constexpr float alpha = 2.0f;
constexpr float beta = -1.0f;

// The definition: one multiplication after the other.
void expect_right(const Case& test, Batch& a, Batch& b, const Batch& before, const Batch& c) {
  Batch expected = before;
  const bool by_rows = test.layout == row_major;
  for (int member = 0; member < test.batch; ++member) {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p) {
          sum += ((test.a_op == no_trans) != by_rows ? a.at(member, i, p) : a.at(member, p, i)) *
                 ((test.b_op == no_trans) != by_rows ? b.at(member, p, j) : b.at(member, j, p));
        }
        float& element = by_rows ? expected.at(member, j, i) : expected.at(member, i, j);
        element = alpha * sum + beta * element;
      }
    }
  }
  EXPECT_EQ(c.array, expected.array);
}

TEST(BatchStrided, IsRight) {
  for (Case test : {Case{},
                    {.a_op = trans},
                    {.b_op = trans},
                    {.a_op = trans, .b_op = trans},
                    {.batch = 0},
                    {.a_stride = 0},
                    {.b_stride = 0},
                    {.a_stride = -40, .b_stride = -50, .c_stride = -60},
                    // The results add up, signs alternating.
                    {.c_stride = 0},
                    {.c_stride = 3},
                    // Rows of one C between rows of the others.
                    {.c_stride = 4, .batch = 2}}) {
    Batch a(6, test.a_stride, 1), b(7, test.b_stride, 2);
    const Batch before(8, test.c_stride, 3);
    for (const int layout : {col_major, row_major}) {
      test.layout = layout;
      Batch c = before;
      cblas_sgemm_batch_strided(layout, test.a_op, test.b_op, m, n, k, alpha, a.data(), a.ld, a.stride,
                                b.data(), b.ld, b.stride, beta, c.data(), c.ld, c.stride, test.batch);
      expect_right(test, a, b, before, c);
    }
    test.layout = col_major;
    Batch c = before;
    // Lower-case letters are allowed too.
    sgemm_batch_strided_(test.a_op == no_trans ? "n" : "t", test.b_op == no_trans ? "N" : "c", &m, &n, &k,
                         &alpha, a.data(), &a.ld, &a.stride, b.data(), &b.ld, &b.stride, &beta, c.data(),
                         &c.ld, &c.stride, &test.batch);
    expect_right(test, a, b, before, c);
  }
}

// Calls that end the program are made in a process of its own, where nothing has asked for a device yet.
class Ending : public ::testing::Test {
 protected:
  Ending() { ::testing::GTEST_FLAG(death_test_style) = "threadsafe"; }

  float x = 1.0f;
};

void without_device() { setenv("DUOGEMM_DEVICE", "nonexistent", 1); }

TEST_F(Ending, NeedsNoDeviceToDoNothing) {
  const auto do_nothing = [] {
    without_device();
    cblas_sgemm(col_major, no_trans, no_trans, 0, 2, 2, 1, nullptr, 1, nullptr, 2, 0, nullptr, 1);
    cblas_sgemm(col_major, no_trans, no_trans, 2, 0, 2, 1, nullptr, 2, nullptr, 2, 0, nullptr, 2);
    cblas_sgemm(col_major, no_trans, no_trans, 2, 2, 0, 1, nullptr, 2, nullptr, 1, 1, nullptr, 2);
    cblas_sgemm(col_major, no_trans, no_trans, 2, 2, 2, 0, nullptr, 2, nullptr, 2, 1, nullptr, 2);
    std::exit(0);
  };
  EXPECT_EXIT(do_nothing(), ::testing::ExitedWithCode(0), "");
}

// Ends with 0 if the next BLAS has got these calls; else says which it has got.
[[noreturn]] void exit_after(const std::vector<std::string>& expected) {
  if (calls_of_next_blas() == expected) {
    std::exit(0);
  }
  for (const std::string& call : calls_of_next_blas()) {
    std::fprintf(stderr, "got: %s\n", call.c_str());
  }
  std::exit(1);
}

constexpr const char* one_warning = "^duogemm: .*nonexistent.*; SGEMM is passed on to another BLAS\n$";

TEST_F(Ending, PassesOnToTheNextBlas) {
  const auto multiply = [this] {
    without_device();
    const int one = 1, two = 2, three = 3, four = 4, five = 5, six = 6;
    float c[9] = {};
    sgemm_("n", "C", &two, &one, &three, &alpha, &x, &four, &x, &five, &beta, c, &six);
    cblas_sgemm(row_major, no_trans, trans, 1, 2, 3, alpha, &x, 5, &x, 4, beta, c, 6);
    exit_after({noted("sgemm_", 'N', 'T', 2, 1, 3, alpha, &x, 4, &x, 5, beta, c, 6),
                noted("sgemm_", 'T', 'N', 2, 1, 3, alpha, &x, 4, &x, 5, beta, c, 6)});
  };
  EXPECT_EXIT(multiply(), ::testing::ExitedWithCode(0), one_warning);
}

TEST_F(Ending, PassesOnABatchOneByOne) {
  const auto multiply = [] {
    without_device();
    const float a[4] = {}, b[4] = {};
    float c[9] = {};
    cblas_sgemm_batch_strided(col_major, no_trans, no_trans, 1, 1, 1, alpha, a, 2, 1, b, 3, 0, beta, c, 4, 2,
                              3);
    exit_after({noted("sgemm_", 'N', 'N', 1, 1, 1, alpha, a, 2, b, 3, beta, c, 4),
                noted("sgemm_", 'N', 'N', 1, 1, 1, alpha, a + 1, 2, b, 3, beta, c + 2, 4),
                noted("sgemm_", 'N', 'N', 1, 1, 1, alpha, a + 2, 2, b, 3, beta, c + 4, 4)});
  };
  EXPECT_EXIT(multiply(), ::testing::ExitedWithCode(0), one_warning);
}

// The device that needs no driver.
bool on_cpu() {
  const char* const device = std::getenv("DUOGEMM_DEVICE");
  return device != nullptr && std::string(device) == "cpu";
}

// In two children, and yet with one warning. Without a driver, they are served.
TEST_F(Ending, PassesOnInForksOfAUserOfADriver) {
  const auto multiply = [this](float& c) {
    cblas_sgemm(col_major, no_trans, no_trans, 1, 1, 1, 1, &x, 1, &x, 1, 0, &c, 1);
  };
  const auto fork_and_multiply = [&multiply, this] {
    float c = 0.0f;
    multiply(c);
    int statuses = 0;
    for (int i = 0; i < 2; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        multiply(c);
        if (on_cpu()) {
          EXPECT_EQ(c, x * x);
          exit_after({});
        }
        exit_after({noted("sgemm_", 'N', 'N', 1, 1, 1, 1.0f, &x, 1, &x, 1, 0.0f, &c, 1)});
      }
      int status = 0;
      waitpid(child, &status, 0);
      statuses += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
    }
    std::_Exit(statuses);
  };
  EXPECT_EXIT(fork_and_multiply(), ::testing::ExitedWithCode(0),
              on_cpu() ? "^$" : "^duogemm: [^\n]*forked[^\n]*passed on to another BLAS\n$");
}

// This happens in a process of its own: the next call comes, once another thread has begun the first one.
TEST_F(Ending, PassesOnInForksThatComeDuringTheFirstCall) {
  const auto multiply = [this] {
    float c = 0.0f;
    cblas_sgemm(col_major, no_trans, no_trans, 1, 1, 1, 1, &x, 1, &x, 1, 0, &c, 1);
  };
  const auto fork_meanwhile = [&] {
    std::atomic<bool> has_begun = false;
    std::thread first([&] {
      has_begun = true;
      multiply();
    });
    while (!has_begun) {
    }
    std::vector<pid_t> children;
    for (int i = 0; i < 40; ++i) {
      children.push_back(fork());
      if (children.back() == 0) {
        alarm(30);  // where the call never returns
        multiply();
        std::_Exit(0);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    int failed = 0;
    for (const pid_t child : children) {
      int status = 1;
      waitpid(child, &status, 0);
      failed += status != 0;
    }
    first.join();
    std::_Exit(failed);
  };
  EXPECT_EXIT(fork_meanwhile(), ::testing::ExitedWithCode(0), "");
}

TEST_F(Ending, PassesOnWhatTheDeviceHasNoMemoryFor) {
  const auto multiply = [this] {
    setenv("DUOGEMM_DEVICE_MEMORY", "1", 1);
    float c = 7.0f;
    for (int again = 0; again < 2; ++again) {
      cblas_sgemm(col_major, no_trans, no_trans, 1, 1, 1, 1, &x, 1, &x, 1, beta, &c, 1);
    }
    const std::string call = noted("sgemm_", 'N', 'N', 1, 1, 1, 1.0f, &x, 1, &x, 1, beta, &c, 1);
    exit_after({call, call});
  };
  EXPECT_EXIT(multiply(), ::testing::ExitedWithCode(0),
              "^duogemm: [^\n]*device memory[^\n]*passed on to another BLAS\n$");
}

TEST_F(Ending, PassesOnWhatCannotBeCompiled) {
  const auto multiply = [] {
    const duogemm::TemporaryDirectory broken;
    duogemm::testing::plant_mistake(DUOGEMM_SOURCE, broken.path(), "compat/dialect.h", "\n",
                                    "\n#error broken on purpose\n");
    setenv("DUOGEMM_KERNEL_DIR", broken.path().c_str(), 1);
    const std::vector<float> a(600 * 600, 1.0f);
    std::vector<float> c(600 * 600, 7.0f);
    std::vector<std::string> expected;
    for (int again = 0; again < 2; ++again) {
      cblas_sgemm(col_major, no_trans, no_trans, 600, 600, 600, 1, a.data(), 600, a.data(), 600, beta,
                  c.data(), 600);
      expected.push_back(
          noted("sgemm_", 'N', 'N', 600, 600, 600, 1.0f, a.data(), 600, a.data(), 600, beta, c.data(), 600));
    }
    EXPECT_EQ(c, std::vector<float>(600 * 600, 7.0f));
    exit_after(expected);
  };
  EXPECT_EXIT(multiply(), ::testing::ExitedWithCode(0),
              "duogemm: [^\n]*broken on purpose; SGEMM is passed on");
}

// Threads of musl's, of Java and of Go may have so little. What is computed by PoCL is compiled anew, and
// where several threads call at once, large products are computed on them.
TEST_F(Ending, ServesThreadsWithSmallStacks) {
  static constexpr auto multiply = [](void*) -> void* {
    for (const int size : {1, 100, 300, 600}) {
      const auto count = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
      const std::vector<float> a(count, 1.0f);
      std::vector<float> c(count, 0.0f);
      cblas_sgemm(col_major, no_trans, no_trans, size, size, size, 1, a.data(), size, a.data(), size, 0,
                  c.data(), size);
      if (c != std::vector<float>(count, static_cast<float>(size))) {
        std::_Exit(1);
      }
    }
    return nullptr;
  };
  const auto call_on_small_stacks = [](int count) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    std::vector<pthread_t> threads(static_cast<std::size_t>(count));
    for (pthread_t& thread : threads) {
      pthread_create(&thread, &attributes, multiply, nullptr);
    }
    for (const pthread_t thread : threads) {
      pthread_join(thread, nullptr);
    }
  };
  const auto call_on_one_and_many = [&] {
    const duogemm::TemporaryDirectory cache;
    setenv("POCL_CACHE_DIR", cache.path().c_str(), 1);
    call_on_small_stacks(1);
    call_on_small_stacks(16);
    std::exit(0);
  };
  EXPECT_EXIT(call_on_one_and_many(), ::testing::ExitedWithCode(0), "");
}

// A device is there, and another BLAS could do no better.
TEST_F(Ending, AbortsOnANullPointer) {
  EXPECT_EXIT(cblas_sgemm(col_major, no_trans, no_trans, 1, 1, 1, 1, nullptr, 1, &x, 1, 0, &x, 1),
              ::testing::KilledBySignal(SIGABRT), "^duogemm: SGEMM cannot be computed: .*null");
}

TEST_F(Ending, ReportsTheFirstIllegalArgument) {
  const auto call = [this](int rows, int cols, int depth, int lda, int ldb, int ldc) {
    without_device();
    const float zero = 0.0f;
    sgemm_("N", "T", &rows, &cols, &depth, &zero, &x, &lda, &x, &ldb, &zero, &x, &ldc);
  };
  const auto message = [](const char* position) {
    return std::string("On entry to SGEMM parameter number ") + position + " had an illegal value";
  };
  const ::testing::ExitedWithCode ended(EXIT_FAILURE);
  EXPECT_EXIT(call(-1, -1, -1, 0, 0, 0), ended, message(" 3"));
  EXPECT_EXIT(call(2, -1, -1, 0, 0, 0), ended, message(" 4"));
  EXPECT_EXIT(call(2, 3, -1, 0, 0, 0), ended, message(" 5"));
  EXPECT_EXIT(call(2, 3, 4, 1, 2, 1), ended, message(" 8"));
  EXPECT_EXIT(call(2, 3, 4, 2, 2, 1), ended, message("10"));
  EXPECT_EXIT(call(2, 3, 4, 2, 3, 1), ended, message("13"));
}

TEST_F(Ending, ReportsBatchStridedByTheCallersNumbers) {
  const auto call = [this](int layout, int rows, int cols, int lda, int ldb, int ldc, int batch) {
    without_device();
    cblas_sgemm_batch_strided(layout, no_trans, no_trans, rows, cols, 2, 1, &x, lda, 9, &x, ldb, 9, 0, &x,
                              ldc, 9, batch);
  };
  const auto message = [](int position) {
    return "Parameter " + std::to_string(position) + " to routine cblas_sgemm_batch_strided was incorrect";
  };
  const ::testing::ExitedWithCode ended(255);
  EXPECT_EXIT(call(row_major, -1, 3, 2, 3, 3, 1), ended, message(4));
  EXPECT_EXIT(call(row_major, 3, -1, 2, 3, 3, 1), ended, message(5));
  EXPECT_EXIT(call(row_major, 3, 3, 1, 3, 3, 1), ended, message(9));
  EXPECT_EXIT(call(col_major, 3, 3, 1, 3, 3, 1), ended, message(9));
  EXPECT_EXIT(call(row_major, 3, 3, 2, 1, 3, 1), ended, message(12));
  EXPECT_EXIT(call(col_major, 3, 3, 3, 1, 3, 1), ended, message(12));
  EXPECT_EXIT(call(col_major, 3, 3, 3, 3, 1, 1), ended, message(16));
  EXPECT_EXIT(call(col_major, 3, 3, 3, 3, 3, -1), ended, message(18));
}

}  // namespace
