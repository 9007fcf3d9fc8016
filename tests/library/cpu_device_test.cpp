// The cpu device: its programs for each set of instructions that this processor has, its threads, and what it
// says where it has no program.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>
#include <tuple>

#include "check/inputs.h"
#include "check/oracle.h"
#include "cpu_backend.h"
#include "families/cpu.h"
#include "files.h"
#include "plan/lower.h"
#include "problem/rounding.h"
#include "refusal.h"
#include "runtime/runtime.h"
#include "system/cores.h"
#include "system/temporary_directory.h"
#include "worker_threads.h"

namespace duogemm::testing {
namespace {

constexpr std::int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 48, 50, 65, 97};

// With columns that have gaps between them.
Problem problem_with_gaps(std::int64_t m, std::int64_t n, std::int64_t k, int ops, float beta) {
  Problem p = Problem::packed(m, n, k, 1.5f, beta);
  p.a_op = ops % 2 == 1 ? Transpose::yes : Transpose::no;
  p.b_op = ops / 2 == 1 ? Transpose::yes : Transpose::no;
  p.lda = p.a_rows() + 3;
  p.ldb = p.b_rows() + 1;
  p.ldc = p.m + 5;
  return p;
}

class CpuDevice : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  void SetUp() override {
    const auto [set, threads] = GetParam();
    runtime_ = std::make_unique<Runtime>(open_cpu(cpu_programs()[set], threads), DiskCache({}));
  }

  Verdict multiply(const Problem& p, const HostProblem& host) {
    Device& device = runtime_->device();
    std::vector<float> found = host.c;
    const auto a = device.wrap(host.a.data());
    const auto b = device.wrap(host.b.data());
    const auto c = device.wrap(found.data());
    runtime_->enqueue(p, *device.create_queue(), {{{a.get()}, {b.get()}, {c.get()}}});
    return Oracle(p, host.a, host.b, host.c).compare(found);
  }

  void check(Problem p) {
    const HostProblem host = random_problem(p, Distribution::signed_unit, static_cast<std::uint32_t>(p.m));
    EXPECT_TRUE(multiply(p, host).ok()) << p.m << " " << p.n << " " << p.k;
    p.level = Reproducibility::everywhere;
    EXPECT_TRUE(multiply(p, host).exact()) << p.m << " " << p.n << " " << p.k;
  }

  std::unique_ptr<Runtime> runtime_;
};

TEST_P(CpuDevice, ComputesTheOwedBits) {
  for (const std::int64_t m : sizes) {
    for (const std::int64_t n : sizes) {
      for (int ops = 0; ops < 4; ++ops) {
        check(problem_with_gaps(m, n, sizes[static_cast<std::size_t>(m + n + ops) % std::size(sizes)], ops,
                                ops % 2 == 0 ? 0.0f : 0.5f));
      }
    }
  }
}

// Columns of a transposed B are far apart, or K is longer than what is packed at once.
TEST_P(CpuDevice, ComputesTheOwedBitsOfLongSums) {
  for (int ops = 0; ops < 4; ++ops) {
    check(problem_with_gaps(5, 300, 900, ops, 0.5f));
    check(problem_with_gaps(60, 300, 1100, ops, 0.5f));
    check(problem_with_gaps(1, 40, 2000, ops, 0.0f));
    check(problem_with_gaps(400, 9, 1300, ops, 0.5f));  // more rows than a tile of many columns has
  }
}

// Tiles of several shares, whose sums are kept between stretches, and one of more rows than there is room for
// sums: a single stretch has all k. Columns of A that are whole pages apart are packed.
TEST_P(CpuDevice, PacksATileInShares) {
  const DeviceInfo& info = runtime_->device().info();
  const Tunables blocks = cpu_blocks(info, cpu_registers(info, {}));
  const std::int64_t stretch = blocks.at("TSK");
  const auto check_bits = [&](std::int64_t m, std::int64_t n, std::int64_t k, int ops) {
    Problem p = problem_with_gaps(m, n, k, ops, 0.5f);
    p.level = Reproducibility::everywhere;
    const HostProblem host = random_problem(p, Distribution::signed_unit, 1);
    EXPECT_TRUE(multiply(p, host).exact()) << m << " " << n << " " << k << " " << ops;
  };
  check_bits(1021, 45, stretch + 18, 0);
  check_bits(1021, 45, stretch + 18, 2);
  constexpr std::int64_t columns = 30;
  constexpr std::int64_t most = 10000;  // the widest vectors have room for more, too many under a sanitizer
  const std::int64_t room = std::int64_t{blocks.at("SHARES")} * blocks.at("TSM") * blocks.at("TSN");
  if (const std::int64_t rows = round_up(room / columns, 1024) + 1021; rows < most) {
    check_bits(rows, columns, stretch, 0);
  }
}

// As many work-groups as several take at once, of which the last are fewer.
TEST_P(CpuDevice, ComputesBatchesAndWhatIsLeftWithoutAProduct) {
  Problem batch = Problem::packed(9, 7, 5, 1.5f, 0.5f);
  batch.batch = 1001;
  batch.a_stride = 45;
  batch.b_stride = 0;
  batch.c_stride = 63;
  check(batch);
  Problem scaled = problem_with_gaps(50, 40, 30, 0, 0.5f);
  scaled.alpha = 0.0f;
  check(scaled);
  // Work-groups that begin within a column, on one core and on all.
  for (const std::int64_t n : {197, 997}) {
    for (const float beta : {0.5f, 0.0f}) {
      scaled = problem_with_gaps(131, n, 30, 0, beta);
      scaled.alpha = 0.0f;
      check(scaled);
    }
  }
}

// Each program is one that the planner chooses, and it chooses no other.
TEST_P(CpuDevice, HasThePrograms) {
  const Planner& planner = planner_for(runtime_->device().info());
  std::set<std::string> chosen;
  for (const std::int64_t m : {1, 2, 3, 4, 5, 7, 8, 12, 40, 300, 2000}) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 40, 300, 2000}) {
      for (const std::int64_t k : {0, 1, 9, 40, 1000, 5000, 100000}) {
        for (int ops = 0; ops < 4; ++ops) {
          for (const auto level : {Reproducibility::run_to_run, Reproducibility::everywhere}) {
            Problem p = problem_with_gaps(m, n, k, ops, 0.0f);
            p.level = level;
            const Variant& kernel = *plan_sgemm(p, planner).steps.at(0).kernel;
            chosen.insert(kernel.spec->name + " " + to_text(kernel.tunables));
          }
        }
      }
    }
  }
  std::set<std::string> there;
  for (const BuiltProgram& program : *runtime_->device().info().programs) {
    there.insert(program.kernel + " " + to_text({program.tunables.begin(), program.tunables.end()}));
  }
  for (const std::string& name : chosen) {
    EXPECT_TRUE(there.contains(name)) << name << " is missing";
  }
  for (const std::string& name : there) {
    EXPECT_TRUE(chosen.contains(name)) << name << " is not needed";
  }
}

// A developer's own text of a kernel is not what was compiled with the library.
TEST_P(CpuDevice, TakesProgramsForTheLibrarysOwnTextsAlone) {
  Device& device = runtime_->device();
  const Plan plan = plan_sgemm(problem_with_gaps(40, 40, 40, 0, 0.0f), planner_for(device.info()));
  ProgramSource source = program_source(*plan.steps.at(0).kernel);
  EXPECT_NE(device.find_built(source), nullptr);
  source.embedded = false;
  EXPECT_EQ(device.find_built(source), nullptr);
}

TEST_P(CpuDevice, SaysWhichProgramsItHas) {
  const DeviceInfo& info = runtime_->device().info();
  const auto needed = [&](const char* kernel, const Tunables& tunables) {
    const KernelSpec& spec = find_kernel(kernel);
    return unsupported_reason(spec, resolve(spec, tunables), info).value_or("nothing");
  };
  const std::string blocks = "TSK=" + std::to_string(cpu_blocks(info, {}).at("TSK"));
  const std::string setting = needed("cpu_panels", {{"TSK", 8}});
  EXPECT_EQ(setting.find("another setting: the cpu device has no program with COLS=4"), 0u) << setting;
  EXPECT_NE(setting.find("; it has COLS="), std::string::npos) << setting;
  EXPECT_NE(setting.find(blocks), std::string::npos) << setting;
  EXPECT_EQ(needed("general", {}), "another device: the cpu device has no program of it");
}

// As a kernel's author sees them: the same bits from an edited text, or what the compiler says.
TEST_P(CpuDevice, CompilesKernelsOfAFolder) {
  const TemporaryDirectory edited;
  plant_mistake(DUOGEMM_SOURCE, edited.path(), "kernels/gemm/cpu/cpu_block.h", "\n", "\n// edited\n");
  const std::string folder = edited.path().string();
  const KernelsFrom here(folder);
  const Problem problem = Problem::packed(50, 40, 30, 0.5f, 2.0f);
  check(problem);
  const Plan plan = plan_sgemm(problem, runtime_->device().info());
  const ProgramSource source = program_source(*plan.steps[plan.multiply].kernel);
  EXPECT_EQ(runtime_->device().find_built(source), nullptr);
  ProgramSource wrong = source;
  wrong.text += "\n#error broken on purpose\n";
  EXPECT_NE(
      refusal([&] { runtime_->device().compile(wrong); }, Status::build_failed).find("broken on purpose"),
      std::string::npos);
}

// Only an explicit fma is fused: 1 + 2^-12 squared is 1 + 2^-11 + 2^-24, of which a product keeps 1 + 2^-11.
TEST_P(CpuDevice, CompilesNoFusedMultiplyAddOutOfOthers) {
  Device& device = runtime_->device();
  const std::string text = complete_text(
      "#include \"dialect.h\"\n__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void\n"
      "unfused(const float a, const float c, __global float* out) { out[0] = a * a + c; }\n");
  const auto kernel = device.compile({"unfused", text, {}, false, false});
  float result = 1.0f;
  const auto out = device.wrap(&result);
  const Argument arguments[] = {1.0f + 0x1p-12f, -(1.0f + 0x1p-11f), out.get()};
  device.create_queue()->launch(*kernel, {{1, 1, 1}, {1, 1, 1}}, arguments);
  EXPECT_EQ(result, 0.0f);
}

// As a user's tuning file may have them.
TEST_P(CpuDevice, TakesTheRegistersThatItHasProgramsFor) {
  const DeviceInfo& info = runtime_->device().info();
  const Tunables own = cpu_registers(info, {});
  EXPECT_EQ(cpu_registers(info, {{"WIDTH", 4}, {"VECTORS", 1}, {"COLS", 1}}), own);
  EXPECT_EQ(cpu_registers(info, own), own);
}

TEST_P(CpuDevice, ServesCallersSideBySide) {
  const auto call = [&](std::int64_t size) {
    Problem p = Problem::packed(size, size + 3, size / 2 + 1);
    p.level = Reproducibility::everywhere;
    const HostProblem host = random_problem(p, Distribution::signed_unit, static_cast<std::uint32_t>(size));
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(multiply(p, host).exact()) << size;
    }
  };
  std::vector<std::jthread> callers;
  for (const std::int64_t size : {20, 90, 100, 110, 120}) {
    callers.emplace_back(call, size);
  }
}

// The baseline among them, which needs nothing that a processor might lack.
INSTANTIATE_TEST_SUITE_P(, CpuDevice,
                         ::testing::Combine(::testing::Range<std::size_t>(0, cpu_programs().size()),
                                            ::testing::Values<std::size_t>(1, 3)),
                         [](const auto& info) {
                           return "vectors_of_" +
                                  std::to_string(cpu_programs()[std::get<0>(info.param)].vector_floats) +
                                  "_threads_" + std::to_string(std::get<1>(info.param));
                         });

TEST(CpuBackend, HasOneDeviceWithTheWidestVectors) {
  const std::vector<DeviceInfo> devices = cpu_backend().devices();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices.front().vector_floats, cpu_programs().front().vector_floats);
  EXPECT_EQ(cpu_programs().back().vector_floats, 4u);
  EXPECT_NE(devices.front().name.find(cpu_programs().front().instructions), std::string::npos);
  EXPECT_TRUE(devices.front().host_memory);
}

TEST(WorkerThreads, ComputeEachItemOnceWhoeverCalls) {
  for (const std::size_t threads : {1, 2, 5}) {
    WorkerThreads workers(threads);
    const auto call = [&] {
      for (std::size_t items = 1; items < 200; ++items) {
        std::vector<std::atomic<int>> times(items);
        workers.compute(items, [&](std::size_t i) { ++times[i]; });
        EXPECT_TRUE(std::ranges::all_of(times, [](const auto& each) { return each == 1; }));
      }
    };
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back(call);
    }
  }
}

// The caller leaves items to others, and is through before they are.
TEST(WorkerThreads, AreWaitedFor) {
  WorkerThreads workers(3);
  const auto caller = std::this_thread::get_id();
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> helped = false;
    std::atomic<int> computed = 0;
    workers.compute(30, [&](std::size_t) {
      if (std::this_thread::get_id() != caller) {
        helped = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!helped && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
      }
      ++computed;
    });
    ASSERT_TRUE(helped);
    EXPECT_EQ(computed, 30);
  }
}

// A caller is not held up by another one's items, however long they take.
TEST(WorkerThreads, LetACallerGoOnWhileAnotherIsAtWork) {
  WorkerThreads workers(2);
  std::atomic<bool> begun = false, done = false, in_time = true;
  std::jthread slow([&] {
    workers.compute(2, [&](std::size_t) {
      begun = true;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (!done && in_time) {
        in_time = std::chrono::steady_clock::now() < end;
        std::this_thread::yield();
      }
    });
  });
  while (!begun) {
    std::this_thread::yield();
  }
  workers.compute(2, [](std::size_t) {});
  EXPECT_TRUE(in_time);
  done = true;
}

class ThreadsOfProcess : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : names) {
      unsetenv(name);
    }
  }
  void TearDown() override { SetUp(); }

  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path file = root_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  std::size_t threads() const { return threads_of_process(root_.path()); }

  static constexpr const char* names[] = {"DUOGEMM_THREADS", "OMP_NUM_THREADS"};
  const TemporaryDirectory root_;
  const std::size_t cores_ = cores_of_process().size();
};

TEST_F(ThreadsOfProcess, AreAsManyAsItsCores) { EXPECT_EQ(threads(), cores_); }

TEST_F(ThreadsOfProcess, AreAsManyAsItsControlGroupsGrant) {
  write("proc/self/cgroup", "0::/outer/inner");
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000");
  EXPECT_EQ(threads(), cores_);
  write("sys/fs/cgroup/outer/cpu.max", "50000 100000");
  EXPECT_EQ(threads(), 1u);
  write("proc/self/cgroup", "4:cpu,cpuacct:/own");
  EXPECT_EQ(threads(), cores_);
  write("sys/fs/cgroup/cpu/own/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/own/cpu.cfs_period_us", "100000");
  EXPECT_EQ(threads(), cores_);
  write("sys/fs/cgroup/cpu/own/cpu.cfs_quota_us", "100000");
  EXPECT_EQ(threads(), 1u);
}

TEST_F(ThreadsOfProcess, AreAsManyAsTheEnvironmentSays) {
  setenv("OMP_NUM_THREADS", "1,4", 1);
  EXPECT_EQ(threads(), 1u);
  setenv("OMP_NUM_THREADS", "100000", 1);
  EXPECT_EQ(threads(), cores_);
  setenv("DUOGEMM_THREADS", "7", 1);
  EXPECT_EQ(threads(), 7u);
  EXPECT_EQ(cpu_backend().devices().front().compute_units, 7u);
  for (const char* wrong : {"0", "-1", "4x", "1025", "many"}) {
    setenv("DUOGEMM_THREADS", wrong, 1);
    EXPECT_THROW(threads(), Error) << wrong;
  }
}

}  // namespace
}  // namespace duogemm::testing
