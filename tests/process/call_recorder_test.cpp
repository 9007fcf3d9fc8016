// DUOGEMM_RECORD writes calls. The variable is read once in a process: each test records in children.
#include "runtime/call_recorder.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "device/device_selection.h"
#include "duogemm/duogemm.h"
#include "files.h"
#include "processes.h"
#include "system/temporary_directory.h"
#include "test_devices.h"
#ifdef DUOGEMM_WITH_OPENCL
#include "duogemm/opencl.hpp"
#endif

namespace duogemm::testing {
namespace {

using nlohmann::json;

constexpr Sgemm small{.m = 2, .n = 3, .k = 4, .lda = 2, .ldb = 4, .ldc = 2};

class CallRecorder : public ::testing::Test {
 protected:
  // In a child that records; how it ended, as waitpid has it. What it says on stderr is kept.
  int status_of(const std::function<void()>& work, const std::filesystem::path& file) const {
    const pid_t child = fork();
    if (child == 0) {
      setenv("DUOGEMM_RECORD", file.c_str(), 1);
      static_cast<void>(!std::freopen(errors_.c_str(), "w", stderr));
      work();
      std::fflush(stderr);
      _exit(::testing::Test::HasFailure() ? 1 : 0);  // no destructor of the library's runs
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  }
  void record(const std::function<void()>& work) const { EXPECT_EQ(status_of(work, file_), 0); }

  // The lines after the head, which is looked at here.
  static std::vector<json> calls_in(const std::filesystem::path& file) {
    std::istringstream lines(contents_of(file));
    std::vector<json> found;
    for (std::string line; std::getline(lines, line);) {
      found.push_back(json::parse(line));
    }
    if (found.empty() || found.front().value("schema", "") != "duogemm.trace/1") {
      ADD_FAILURE() << file << " has no head";
      return {};
    }
    found.erase(found.begin());
    return found;
  }
  std::vector<json> calls() const { return calls_in(file_); }

  const TemporaryDirectory folder_;
  const std::filesystem::path file_ = folder_.path() / "trace.jsonl";
  const std::filesystem::path errors_ = folder_.path() / "stderr.txt";
};

TEST_F(CallRecorder, WritesEverythingThatMakesACallAndNoMore) {
  record([] {
    record_call(small, CallMemory::host);
    Sgemm all = small;
    all.layout = Layout::row_major;
    all.a_op = Transpose::yes;
    all.alpha = 0.1f;
    all.beta = -std::numeric_limits<float>::infinity();
    all.lda = 12;
    all.ldb = 13;
    all.ldc = 14;
    all.batch = 5;
    all.a_stride = 100;
    all.c_stride = 300;
    all.level = Reproducibility::everywhere;
    record_call(all, CallMemory::device);
    record_call(all, CallMemory::device, CallBatch::lists);
    record_call(all, CallMemory::device, CallBatch::groups);
    Sgemm permitting = small;
    permitting.precision = Precision::bf16x6;
    permitting.b_type = ElementType::bf16;
    record_call(permitting, CallMemory::host);
  });
  const json first = {{"m", 2}, {"n", 3}, {"k", 4}, {"lda", 2}, {"ldb", 4}, {"ldc", 2}, {"memory", "host"}};
  json second =
      json::parse(R"({"m": 2, "n": 3, "k": 4, "ops": "TN", "lda": 12, "ldb": 13, "ldc": 14, "alpha": 0.1,
      "beta": "-inf", "batch": 5, "a_stride": 100, "b_stride": 0, "c_stride": 300, "layout": "row_major",
      "level": "everywhere", "memory": "device"})");
  json third = second;
  for (const char* stride : {"a_stride", "b_stride", "c_stride"}) {
    third.erase(stride);
  }
  third["batch_by"] = "lists";
  json of_groups = third;
  of_groups["batch_by"] = "groups";
  of_groups["b_stride"] = 0;
  json fourth = first;
  fourth["precision"] = "bf16x6";
  fourth["b_type"] = "bf16";
  EXPECT_EQ(calls(), (std::vector<json>{first, second, third, of_groups, fourth}));
  EXPECT_EQ(contents_of(errors_), "");
}

TEST_F(CallRecorder, CountsTheSameCallInARowAndLeavesOutWhatChangesNothing) {
  record([] {
    Sgemm other = small;
    other.beta = 1.0f;
    Sgemm nothing = other;
    nothing.alpha = 0.0f;
    for (int i = 0; i < 12; ++i) {
      record_call(small, CallMemory::device);
      record_call(nothing, CallMemory::device);
    }
    record_call(other, CallMemory::device);
    record_call(small, CallMemory::device);
  });
  const std::vector<json> found = calls();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].value("times", 1), 12);
  EXPECT_EQ(found[1].value("times", 1), 1);
  EXPECT_EQ(found[1].value("beta", 0.0), 1.0);
  EXPECT_EQ(found[2].value("times", 1), 1);
}

TEST_F(CallRecorder, LosesNothingWhenTheProcessIsKilled) {
  const auto work = [] {
    for (int i = 0; i < 7; ++i) {
      record_call(small, CallMemory::device);
    }
    raise(SIGKILL);
  };
  EXPECT_TRUE(WIFSIGNALED(status_of(work, file_)));
  ASSERT_EQ(calls().size(), 1u);
  EXPECT_EQ(calls().front().value("times", 1), 7);
}

TEST_F(CallRecorder, TakesCallsOfAllThreads) {
  constexpr int threads = 8;
  constexpr int rounds = 200;
  record([] {
    in_threads(threads, [](int thread) {
      Sgemm own = small;
      own.ldc = 10 + thread;
      for (int i = 0; i < rounds; ++i) {
        record_call(own, CallMemory::device);
      }
      return true;
    });
  });
  std::map<int, int> times;
  for (const json& call : calls()) {
    times[call.at("ldc").get<int>()] += call.value("times", 1);
  }
  ASSERT_EQ(times.size(), static_cast<std::size_t>(threads));
  for (const auto& [ldc, count] : times) {
    EXPECT_EQ(count, rounds) << ldc;
  }
}

TEST_F(CallRecorder, GivesTheChildOfAForkAFileOfItsOwn) {
  record([] {
    record_call(small, CallMemory::device);
    const pid_t child = fork();
    if (child == 0) {
      Sgemm other = small;
      other.beta = 2.0f;
      record_call(other, CallMemory::device);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    record_call(small, CallMemory::device);
  });
  ASSERT_EQ(calls().size(), 1u);
  EXPECT_EQ(calls().front().value("times", 1), 2);
  std::size_t others = 0;
  for (const auto& file : files_in(folder_.path())) {
    if (file.filename().string().starts_with("trace.jsonl.")) {
      ++others;
      ASSERT_EQ(calls_in(file).size(), 1u);
      EXPECT_EQ(calls_in(file).front().value("beta", 0.0), 2.0);
    }
  }
  EXPECT_EQ(others, 1u);
}

TEST_F(CallRecorder, NamesTheFileByTheProcess) {
  EXPECT_EQ(status_of([] { record_call(small, CallMemory::device); }, folder_.path() / "trace-%p.jsonl"), 0);
  std::size_t found = 0;
  for (const auto& file : files_in(folder_.path())) {
    found += std::filesystem::is_regular_file(file) && file.extension() == ".jsonl" &&
             file.filename().string().find_first_of("0123456789") == std::string("trace-").size();
  }
  EXPECT_EQ(found, 1u);
}

TEST_F(CallRecorder, ComplainsOnceOfAFileThatCannotBeWritten) {
  for (const std::string file : {"/nowhere/trace.jsonl", "/dev/full", "/"}) {
    const auto work = [] {
      for (int i = 0; i < 3; ++i) {
        record_call(small, CallMemory::device);
      }
    };
    EXPECT_EQ(status_of(work, file), 0);
    const std::string said = contents_of(errors_);
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    EXPECT_NE(said.find("DUOGEMM_RECORD=" + file + ": calls are not recorded: "), std::string::npos) << said;
  }
}

// As a disk that is full after N bytes, which may be in the middle of a line.
TEST_F(CallRecorder, LeavesWholeLinesWhereTheDiskIsFull) {
  std::size_t most_lines = 0;
  for (rlim_t bytes = 1; bytes < 450; bytes += 3) {
    record([=] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{bytes, bytes};
      ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
      Sgemm other = small;
      other.beta = 1.0f;
      for (int i = 0; i < 12; ++i) {
        record_call(small, CallMemory::device);
      }
      record_call(other, CallMemory::device);
      record_call(small, CallMemory::device);
    });
    const std::string text = contents_of(file_);
    EXPECT_LE(text.size(), bytes);
    EXPECT_TRUE(text.empty() || text.back() == '\n') << bytes << " bytes: " << text;
    if (!text.empty()) {
      most_lines = std::max(most_lines, calls().size());
    }
  }
  EXPECT_EQ(most_lines, 3u);
}

// The public calls, on a device if there is one.
class RecordedCalls : public CallRecorder {
 protected:
  void SetUp() override {
    const pid_t child = fork();  // drivers do not survive a fork: a child looks
    if (child == 0) {
      std::string reason;
      const std::vector<DeviceName> names = test_devices();
      const auto is_there = [&](const DeviceName& name) { return find_test_device(name, reason) != nullptr; };
      _exit(std::ranges::any_of(names, is_there) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status != 0) {
      GTEST_SKIP() << "no device was found";
    }
  }

  static constexpr float a_[] = {1, 2, 3, 4};
  static constexpr float b_[] = {5, 6, 7, 8};
  static constexpr Sgemm square_{
      .layout = Layout::row_major, .m = 2, .n = 2, .k = 2, .lda = 2, .ldb = 2, .ldc = 2};
};

TEST_F(RecordedCalls, OfCppAreThoseThatWereServed) {
  record([] {
    float c[4];
    sgemm(square_, a_, b_, c);
    const float* const list_a[] = {a_, b_};
    const float* const list_b[] = {b_, a_};
    float d[4];
    float* const list_c[] = {c, d};
    Sgemm two = square_;
    two.batch = 2;
    sgemm_batched(two, list_a, list_b, list_c);
    Sgemm wrong = square_;
    wrong.lda = 1;
    EXPECT_THROW(sgemm(wrong, a_, b_, c), Error);
  });
  ASSERT_EQ(calls().size(), 2u);
  EXPECT_EQ(calls()[0].value("layout", ""), "row_major");
  EXPECT_EQ(calls()[0].value("memory", ""), "host");
  EXPECT_EQ(calls()[1].value("batch_by", ""), "lists");
  EXPECT_EQ(calls()[1].value("batch", 1), 2);
}

// The drop-in BLAS reads once what it permits.
TEST_F(RecordedCalls, OfBlasAsTheEnvironmentAsks) {
  struct Case {
    const char *precision, *level, *permitted, *asked, *complaint;
  };
  for (const Case& each :
       {Case{"f16x3", "", "f16x3", "run_to_run", ""},
        {"tf32", "run_to_run", "fp32", "run_to_run",
         "duogemm: DUOGEMM_PRECISION is 'tf32'; it must be fp32, bf16x6 or f16x3; fp32 is used\n"},
        {"", "everywhere", "fp32", "everywhere", ""},
        {"f16x3", "everywhere", "fp32", "everywhere",
         "duogemm: DUOGEMM_PRECISION is f16x3; it must be fp32 at the level everywhere; fp32 is used\n"},
        {"", "bitwise", "fp32", "run_to_run",
         "duogemm: DUOGEMM_LEVEL is 'bitwise'; it must be run_to_run, everywhere or batch_invariant; "
         "run_to_run is "
         "used\n"},
        {"f16x3", "batch_invariant", "f16x3", "batch_invariant", ""}}) {
    record([&each] {
      setenv("DUOGEMM_PRECISION", each.precision, 1);
      setenv("DUOGEMM_LEVEL", each.level, 1);
      void* const library = dlopen(DUOGEMM_BLAS, RTLD_NOW);
      ASSERT_NE(library, nullptr) << dlerror();
      using Sgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const float*,
                             const float*, const int*, const float*, const int*, const float*, float*,
                             const int*, std::size_t, std::size_t);
      const auto gemm = reinterpret_cast<Sgemm>(dlsym(library, "sgemm_"));
      ASSERT_NE(gemm, nullptr);
      const int two = 2;
      const float one = 1.0f, zero = 0.0f;
      float c[4];
      for (int i = 0; i < 2; ++i) {
        gemm("N", "N", &two, &two, &two, &one, a_, &two, b_, &two, &zero, c, &two, 1, 1);
      }
    });
    ASSERT_EQ(calls().size(), 1u);
    EXPECT_EQ(calls().front().value("precision", "fp32"), each.permitted);
    EXPECT_EQ(calls().front().value("level", "run_to_run"), each.asked);
    EXPECT_EQ(contents_of(errors_), each.complaint);
  }
}

#ifdef DUOGEMM_WITH_OPENCL
TEST_F(RecordedCalls, OfOpenCl) {
  record([] {
    std::string reason;
    TestDevice* const found = find_test_device({find_backend("opencl"), 0}, reason);
    if (found == nullptr) {
      return;
    }
    const auto memory = found->device->allocate(sizeof a_);
    const auto result = found->device->allocate(sizeof a_);
    found->queue->write(*memory, a_, sizeof a_);
    const auto queue = reinterpret_cast<cl_command_queue>(found->queue->native());
    const auto in = reinterpret_cast<cl_mem>(memory->native());
    const auto out = reinterpret_cast<cl_mem>(result->native());
    opencl::sgemm(queue, square_, {in}, {in}, {out});
    opencl::sgemm(queue, square_, {in}, {in}, {out}, {}, nullptr, {});
    found->queue->finish();
  });
  if (calls().empty()) {
    GTEST_SKIP() << "no opencl device was found";
  }
  ASSERT_EQ(calls().size(), 1u);
  EXPECT_EQ(calls().front().value("memory", ""), "device");
  EXPECT_EQ(calls().front().value("times", 1), 2);
}
#endif

}  // namespace
}  // namespace duogemm::testing
