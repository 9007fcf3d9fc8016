// Plans for CPUs that are not here.
#include <gtest/gtest.h>

#include "check_plan.h"
#include "devices.h"
#include "families/cpu.h"
#include "plan/select.h"
#include "problem/rounding.h"

namespace duogemm::testing {
namespace {

constexpr std::size_t kib = 1024;

// By what is planned where nothing was measured.
Step only_step(const Problem& problem, const DeviceInfo& device) {
  const Plan plan = plan_of(unmeasured_request(problem, device), problem, device);
  EXPECT_EQ(plan.steps.size(), 1u);
  EXPECT_TRUE(plan.workspace_bytes.empty());
  return plan.steps.front();
}

std::string kernel_for(const Problem& problem, const DeviceInfo& device = cpu(16)) {
  return unmeasured_request(problem, device).spec->name;
}

// As a file may have it that somebody wrote. The shape alone chooses cpu_dots.
TEST(CpuPlanner, PassesOverMeasurementsOfAKernelThatNoPlanTakesFromThem) {
  const KernelSpec& dots = find_kernel("cpu_dots");
  Tuning tuning;
  tuning.calibrations = {{&dots, resolve(dots, {}), {{1, 1e-6, 1e-9}, {2, 1e-6, 1e-9}}}};
  const DeviceInfo device = cpu(16);
  const Planner planner(device, tuning);
  const Problem problem = problem_of(1, 300, 300, "TN");
  EXPECT_EQ(planner.select(problem).kernel->spec->name, kernel_for(problem, device));
}

// A transposed A is read in vectors of four, and a C by rows swaps the operands.
TEST(CpuPlanner, FitsWhatWasMeasuredToTheProblem) {
  const KernelSpec& direct = find_kernel("cpu_direct");
  const DeviceInfo device = cpu(16);
  for (const int rows : {0, 1}) {
    Tuning tuning;
    tuning.calibrations = {{&direct,
                            resolve(direct, {{"WIDTH", 16}, {"COLS", 8}, {"ROWS_C", rows}}),
                            {{1, 1e-6, 1e-9}, {2, 1e-6, 1e-9}}}};
    const Planner planner(device, tuning);
    const Tunables narrow = planner.select(problem_of(50, 4, 3, "TN")).kernel->tunables;
    EXPECT_EQ(narrow.at("WIDTH"), 4);
    EXPECT_EQ(narrow.at("COLS"), 4);
    EXPECT_EQ(planner.select(Problem::packed(50, 40, 30)).kernel->tunables.at("ROWS_C"), 0);
  }
}

TEST(CpuBlocks, FitLocalMemoryWhateverTheDeviceSays) {
  const KernelSpec& spec = find_kernel("cpu_panels");
  for (const std::size_t floats : {0, 1, 4, 8, 16, 32}) {
    for (const std::size_t local : {32 * kib, 64 * kib, 512 * kib, 1024 * kib, 65536 * kib}) {
      for (const std::size_t cache : {std::size_t{0}, 128 * kib, 2048 * kib}) {
        DeviceInfo device = cpu(floats, 2, local);
        device.core_cache_bytes = cache;
        Tunables blocks = cpu_blocks(device, cpu_registers(device, tuning_for(device).registers));
        blocks["TRANS_B"] = 1;
        blocks = resolve(spec, blocks);
        EXPECT_EQ(unsupported_reason(spec, blocks, device), std::nullopt) << to_text(blocks);
      }
    }
  }
}

TEST(CpuTiles, GiveEveryCoreAsMuch) {
  for (const std::size_t cores : {1, 2, 3, 4, 8, 64}) {
    const DeviceInfo device = cpu(16, cores);
    const Problem problem = problem_of(3072, 3072, 3072, "TN");
    const Step step = only_step(problem, device);
    const std::size_t groups = step.geometry.groups[0];
    EXPECT_LE(round_up(groups, cores), groups + groups / 100) << cores;
  }
}

TEST(CpuTiles, HaveMoreRowsWhereColumnsAreFew) {
  const auto groups = [](std::int64_t n, const char* ops) {
    return only_step(problem_of(6000, n, 6000, ops), cpu(16, 1)).geometry.groups[0];
  };
  EXPECT_LE(groups(10, "NN"), groups(30, "NN"));
  EXPECT_LT(2 * groups(30, "NN"), groups(100, "NN"));
  EXPECT_LT(groups(40, "TN"), groups(100, "TN"));
}

TEST(CpuTiles, AreSeveralForEveryCoreWhereNothingIsPacked) {
  const DeviceInfo device = cpu(16);
  for (const Problem& problem :
       {Problem::packed(256, 32, 256), Problem::packed(2000, 1, 100), Problem::packed(64, 64, 64)}) {
    const Step step = only_step(problem, device);
    EXPECT_GE(step.geometry.groups[0], 4u) << problem.m << " x " << problem.n;
    EXPECT_LE(step.geometry.groups[0], 8u) << problem.m << " x " << problem.n;
  }
}

TEST(CpuPlan, PacksWhatIsReadManyTimes) {
  EXPECT_EQ(kernel_for(Problem::packed(500, 500, 500)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(2000, 2000, 2000)), "cpu_panels");
  EXPECT_EQ(kernel_for(Problem::packed(512, 16, 512)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(64, 512, 512)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(4096, 4096, 4096)), "cpu_panels");
  EXPECT_EQ(kernel_for(problem_of(512, 512, 512, "TN")), "cpu_panels");
  EXPECT_EQ(kernel_for(Problem::packed(64, 64, 65536)), "cpu_panels");
  EXPECT_EQ(kernel_for(Problem::packed(64, 64, 1024)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(4000, 4, 40)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(512, 512, 8)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(3, 3, 3)), "cpu_direct");
}

// A core's own cache has room for 262,144 floats here.
TEST(CpuPlan, PacksWhatACoresCacheDoesNotHold) {
  EXPECT_EQ(kernel_for(Problem::packed(64, 64, 4096)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(64, 64, 4097)), "cpu_panels");
  EXPECT_EQ(kernel_for(problem_of(30, 64, 4096, "NT")), "cpu_direct");
  EXPECT_EQ(kernel_for(problem_of(30, 64, 4097, "NT")), "cpu_panels");
  EXPECT_EQ(kernel_for(Problem::packed(30, 64, 4097)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(500, 524, 12)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(500, 525, 12)), "cpu_panels");
  // But for few rows of A, and few columns of B.
  EXPECT_EQ(kernel_for(problem_of(30, 30, 65536, "NT")), "cpu_direct");
}

// Where most of the time is spent to read A from memory, it is not copied first.
TEST(CpuPlan, ReadsALongAOnceForFewColumns) {
  const auto copies = [](const Problem& problem) {
    const ScheduleRequest request = unmeasured_request(problem, cpu(16));
    EXPECT_EQ(request.spec->name, "cpu_panels");
    return schedule_for(request, problem, cpu(16)).kernel->tunables.at("COPY_A");
  };
  EXPECT_EQ(copies(Problem::packed(4000, 4, 4000)), 0);
  EXPECT_EQ(copies(problem_of(4000, 24, 4000, "NT")), 0);
  EXPECT_EQ(copies(Problem::packed(4000, 25, 4000)), 1);
  EXPECT_EQ(copies(problem_of(4000, 24, 40, "TN")), 1);
}

TEST(CpuPlan, PacksColumnsThatCompeteForLinesOfTheFirstCache) {
  EXPECT_EQ(kernel_for(Problem::packed(1000, 16, 24)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(1024, 16, 24)), "cpu_panels");
  EXPECT_EQ(kernel_for(Problem::packed(1024, 2, 64)), "cpu_panels");
  Problem part = Problem::packed(1000, 16, 24);
  part.lda = 4096;
  EXPECT_EQ(kernel_for(part), "cpu_panels");
}

TEST(CpuPlan, AddsUpVectorsOfKWhereTheLevelAllows) {
  for (const std::int64_t columns : {1, 4}) {
    Problem problem = problem_of(512, columns, 512, "TN");
    EXPECT_EQ(kernel_for(problem), "cpu_dots");
    const ScheduleRequest dots = unmeasured_request(problem, cpu(16));
    problem.level = Reproducibility::everywhere;
    EXPECT_EQ(kernel_for(problem), "cpu_direct");
    EXPECT_THROW(schedule_for(dots, problem, cpu(16)), Error);
  }
  EXPECT_EQ(kernel_for(problem_of(512, 16, 512, "TN")), "cpu_dots");
  EXPECT_EQ(kernel_for(problem_of(512, 33, 512, "TN")), "cpu_panels");
  EXPECT_EQ(kernel_for(problem_of(512, 16, 100, "TN")), "cpu_panels");
  EXPECT_EQ(kernel_for(problem_of(512, 1, 4, "TN")), "cpu_direct");
}

TEST(CpuPlan, CopiesFewRowsForDotProductsWhereThereIsRoom) {
  Problem problem = Problem::packed(4, 900, 128);
  EXPECT_EQ(kernel_for(problem), "cpu_dots");
  EXPECT_EQ(kernel_for(problem, cpu(16, 2, 16 * kib)), "cpu_direct");
  problem.level = Reproducibility::everywhere;
  EXPECT_EQ(kernel_for(problem), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(8, 800, 48)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(4, 4, 200)), "cpu_direct");
  EXPECT_EQ(kernel_for(Problem::packed(8, 4096, 14336)), "cpu_dots");
  EXPECT_EQ(kernel_for(Problem::packed(4, 900, 100000)), "cpu_direct");
}

TEST(CpuPlan, StoresCByRowsWhereBothOperandsAreTransposedAndItIsTheLesser) {
  const auto rows_c = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return only_step(problem_of(m, n, k, "TT"), cpu(16)).kernel->tunables.at("ROWS_C");
  };
  EXPECT_EQ(rows_c(24, 14, 52), 1);
  EXPECT_EQ(rows_c(500, 500, 500), 1);
  EXPECT_EQ(rows_c(2000, 2000, 99), 0);
  EXPECT_EQ(rows_c(1000, 5, 3), 0);
}

TEST(CpuPlan, StoresNarrowCByRowsWhereSumsPayForTheWrites) {
  const auto rows_c = [](std::int64_t m, std::int64_t k) {
    return only_step(problem_of(m, 300, k, "NT"), cpu(16)).kernel->tunables.at("ROWS_C");
  };
  EXPECT_EQ(rows_c(4, 4), 1);
  EXPECT_EQ(rows_c(10, 4), 0);
  EXPECT_EQ(rows_c(10, 64), 1);
  EXPECT_EQ(rows_c(14, 16), 0);
}

TEST(CpuPlan, TakesAVectorWithoutGapsForOneAlongK) {
  EXPECT_EQ(kernel_for(Problem::packed(1, 512, 512)), "cpu_dots");
  EXPECT_EQ(kernel_for(Problem::packed(1, 1, 512)), "cpu_dots");
  EXPECT_EQ(kernel_for(problem_of(512, 1, 512, "TT")), "cpu_dots");
  Problem gaps = Problem::packed(1, 512, 512);
  gaps.lda = 2;
  EXPECT_EQ(kernel_for(gaps), "cpu_dots");
  EXPECT_EQ(kernel_for(Problem::packed(512, 1, 512)), "cpu_direct");
}

TEST(CpuPlan, SwapsOperandsWhereCIsNarrow) {
  const DeviceInfo device = cpu(16);
  const Problem problem = problem_of(2, 1000, 500, "TN");
  const Step step = only_step(problem, device);
  EXPECT_EQ(step.kernel->tunables.at("ROWS_C"), 1);
  EXPECT_EQ(std::get<StructArgument>(step.arguments[0]).as<GemmArguments>().M, 1000);
  EXPECT_EQ(std::get<Operand>(step.arguments[1]), operand_b);
  EXPECT_EQ(std::get<Operand>(step.arguments[3]), operand_a);
}

TEST(CpuPlan, TakesARowWithoutGapsForAColumn) {
  const Problem problem = problem_of(1, 1000, 5, "TT");
  const Step step = only_step(problem, cpu(16));
  EXPECT_EQ(step.kernel->tunables.at("ROWS_C"), 0);
  EXPECT_EQ(std::get<StructArgument>(step.arguments[0]).as<GemmArguments>().M, 1000);
  EXPECT_EQ(std::get<Operand>(step.arguments[1]), operand_b);
  Problem apart = problem;
  apart.ldc = 2;
  EXPECT_EQ(only_step(apart, cpu(16)).kernel->tunables.at("ROWS_C"), 1);
}

TEST(CpuTiles, AreLargerWhereKIsShort) {
  const Tunables panels = only_step(problem_of(2000, 2000, 2000, "TT"), cpu(16, 1)).kernel->tunables;
  const auto groups = [](std::int64_t k) {
    return only_step(problem_of(2000, 2000, k, "TT"), cpu(16, 1)).geometry.groups[0];
  };
  EXPECT_EQ(groups(panels.at("TSK") / 32), 1u);
  EXPECT_GT(groups(panels.at("TSK")), 1u);
}

}  // namespace
}  // namespace duogemm::testing
