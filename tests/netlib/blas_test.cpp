// What Netlib's drivers do not ask of the drop-in library, in a program that has it by link order and no
// other BLAS.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

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

std::vector<Case> column_major_cases() {
  return {{},
          {.a_op = trans},
          {.b_op = trans},
          {.a_op = trans, .b_op = trans},
          {.batch = 0},
          {.a_stride = 0},
          {.b_stride = 0},
          {.a_stride = -40, .b_stride = -50, .c_stride = -60},
          // The results add up, signs alternating.
          {.c_stride = 0},
          {.c_stride = 3}};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = column_major_cases();
  for (Case test : column_major_cases()) {
    test.layout = row_major;
    cases.push_back(test);
  }
  // Rows of one C between rows of the others.
  cases.push_back({.layout = row_major, .c_stride = 4, .batch = 2});
  return cases;
}

class BatchStrided : public ::testing::TestWithParam<Case> {};
class FortranBatchStrided : public ::testing::TestWithParam<Case> {};

TEST_P(BatchStrided, IsRight) {
  const Case test = GetParam();
  Batch a(6, test.a_stride, 1), b(7, test.b_stride, 2), c(8, test.c_stride, 3);
  const Batch before = c;
  cblas_sgemm_batch_strided(test.layout, test.a_op, test.b_op, m, n, k, alpha, a.data(), a.ld, a.stride,
                            b.data(), b.ld, b.stride, beta, c.data(), c.ld, c.stride, test.batch);
  expect_right(test, a, b, before, c);
}

TEST_P(FortranBatchStrided, IsRight) {
  const Case test = GetParam();
  Batch a(6, test.a_stride, 1), b(7, test.b_stride, 2), c(8, test.c_stride, 3);
  const Batch before = c;
  // Lower-case letters are allowed too.
  sgemm_batch_strided_(test.a_op == no_trans ? "n" : "t", test.b_op == no_trans ? "N" : "c", &m, &n, &k,
                       &alpha, a.data(), &a.ld, &a.stride, b.data(), &b.ld, &b.stride, &beta, c.data(), &c.ld,
                       &c.stride, &test.batch);
  expect_right(test, a, b, before, c);
}

INSTANTIATE_TEST_SUITE_P(All, BatchStrided, ::testing::ValuesIn(all_cases()));
INSTANTIATE_TEST_SUITE_P(All, FortranBatchStrided, ::testing::ValuesIn(column_major_cases()));

TEST(Sgemm, ServesManyThreads) {
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 8; ++seed) {
    threads.emplace_back([seed] {
      for (int i = 0; i < 20; ++i) {
        const Case test{.layout = seed % 2 == 0 ? col_major : row_major, .batch = 1};
        Batch a(6, 0, seed), b(7, 0, i), c(8, 0, 3);
        const Batch before = c;
        cblas_sgemm(test.layout, no_trans, no_trans, m, n, k, alpha, a.data(), a.ld, b.data(), b.ld, beta,
                    c.data(), c.ld);
        expect_right(test, a, b, before, c);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// What ends the program, in a process of its own, where nothing has asked for a device yet.
class Ending : public ::testing::Test {
 protected:
  Ending() { ::testing::GTEST_FLAG(death_test_style) = "threadsafe"; }

  float x = 1.0f;
};

class EndingWithoutDevice : public Ending {
 protected:
  EndingWithoutDevice() { setenv(variable, "nonexistent", 1); }
  ~EndingWithoutDevice() override {
    if (before_.empty()) {
      unsetenv(variable);
    } else {
      setenv(variable, before_.c_str(), 1);
    }
  }

 private:
  static constexpr const char* variable = "DUOGEMM_DEVICE";
  const std::string before_ = std::getenv(variable) == nullptr ? "" : std::getenv(variable);
};

TEST_F(EndingWithoutDevice, NeedsNoDeviceToDoNothing) {
  const auto do_nothing = [] {
    cblas_sgemm(col_major, no_trans, no_trans, 0, 2, 2, 1, nullptr, 1, nullptr, 2, 0, nullptr, 1);
    cblas_sgemm(col_major, no_trans, no_trans, 2, 0, 2, 1, nullptr, 2, nullptr, 2, 0, nullptr, 2);
    cblas_sgemm(col_major, no_trans, no_trans, 2, 2, 0, 1, nullptr, 2, nullptr, 1, 1, nullptr, 2);
    cblas_sgemm(col_major, no_trans, no_trans, 2, 2, 2, 0, nullptr, 2, nullptr, 2, 1, nullptr, 2);
    std::exit(0);
  };
  EXPECT_EXIT(do_nothing(), ::testing::ExitedWithCode(0), "");
}

TEST_F(EndingWithoutDevice, AbortsWithoutADevice) {
  EXPECT_EXIT(cblas_sgemm(col_major, no_trans, no_trans, 1, 1, 1, 1, &x, 1, &x, 1, 0, &x, 1),
              ::testing::KilledBySignal(SIGABRT), "^duogemm: .*nonexistent");
}

TEST_F(Ending, AbortsAForkedUserOfTheDevice) {
  const auto multiply = [this] {
    float c = 0.0f;
    cblas_sgemm(col_major, no_trans, no_trans, 1, 1, 1, 1, &x, 1, &x, 1, 0, &c, 1);
  };
  const auto fork_and_multiply = [&multiply] {
    multiply();
    const pid_t child = fork();
    if (child == 0) {
      multiply();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::_Exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  };
  EXPECT_EXIT(fork_and_multiply(), ::testing::ExitedWithCode(SIGABRT), "^duogemm: .*forked");
}

// Without another BLAS, and so without XERBLA, the library ends the program as the reference's own handlers
// do.
TEST_F(EndingWithoutDevice, ReportsAsXerbla) {
  const int one = 1, two = 2;
  EXPECT_EXIT(sgemm_("N", "N", &two, &one, &one, &x, &x, &one, &x, &one, &x, &x, &two),
              ::testing::ExitedWithCode(1), "On entry to SGEMM parameter number  8 had an illegal value");
  EXPECT_EXIT(sgemm_("N", "?", &two, &one, &one, &x, &x, &one, &x, &one, &x, &x, &two),
              ::testing::ExitedWithCode(1), "On entry to SGEMM parameter number  2 had an illegal value");
  EXPECT_EXIT(sgemm_batch_strided_("N", "N", &one, &one, &two, &x, &x, &one, &one, &x, &one, &one, &x, &x,
                                   &one, &one, &one),
              ::testing::ExitedWithCode(1),
              "On entry to SGEMM_BATCH_STRIDED parameter number 11 had an illegal value");
}

TEST_F(EndingWithoutDevice, ReportsAsCblasXerbla) {
  const auto call = [this](int layout, int a_op, int rows, int cols, int lda, int ldb) {
    cblas_sgemm(layout, a_op, no_trans, rows, cols, 2, 1, &x, lda, &x, ldb, 0, &x, 2);
  };
  const ::testing::ExitedWithCode ended(255);
  EXPECT_EXIT(call(0, no_trans, 1, 1, 2, 2), ended,
              "Parameter 1 to .* cblas_sgemm .*\nIllegal layout setting, 0");
  EXPECT_EXIT(call(col_major, 0, 1, 1, 2, 2), ended,
              "Parameter 2 to .* cblas_sgemm .*\nIllegal TransA setting, 0");
  EXPECT_EXIT(call(col_major, no_trans, 1, -1, 1, 2), ended,
              "Parameter 5 to routine cblas_sgemm was incorrect");
  EXPECT_EXIT(call(row_major, no_trans, 1, -1, 2, 1), ended,
              "Parameter 5 to routine cblas_sgemm was incorrect");
  EXPECT_EXIT(call(col_major, no_trans, 2, 1, 1, 2), ended,
              "Parameter 9 to routine cblas_sgemm was incorrect");
  EXPECT_EXIT(call(row_major, no_trans, 2, 1, 1, 1), ended,
              "Parameter 9 to routine cblas_sgemm was incorrect");
  EXPECT_EXIT(call(row_major, no_trans, 1, 2, 2, 1), ended,
              "Parameter 11 to routine cblas_sgemm was incorrect");
}

TEST_F(EndingWithoutDevice, ReportsBatchStridedByTheCallersNumbers) {
  const auto call = [this](int layout, int rows, int cols, int lda, int ldb, int ldc, int batch) {
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
