// The kernels for tensor cores of compute capability 8.0, run work-item by work-item on the host (see
// emulation/): as planned for a device that is not there, for all edges of tiles. Needs no device.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "check/inputs.h"
#include "check/oracle.h"
#include "devices.h"
#include "draw.h"
#include "emulation/work_group.h"
#include "families/tensor.h"
#include "grouped_product.h"
#include "narrow.h"
#include "plan/lower.h"

namespace duogemm::testing {
namespace {

DeviceInfo ampere(std::size_t compute_units = 3) {
  DeviceInfo info = hopper(90);  // so that every setting below has local memory
  info.name = "A device of compute capability 8.0";
  info.compute_capability = 80;
  info.compute_units = compute_units;  // so few that work-groups have several tiles
  info.clusters = false;
  return info;
}

// A kernel with some tunables, by the build's name.
struct Setting {
  const char* split;
  const char* product;
  Precision precision;
  Tunables tunables;
  ElementType a_type = ElementType::fp32;
  ElementType b_type = ElementType::fp32;
};
const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = {
      {"split_f16", "mma_f16", Precision::f16x3, {}},
      {"split_f16",
       "mma_f16_small",
       Precision::f16x3,
       {{"TSM", 64}, {"WARP_N", 32}, {"STAGES", 3}, {"RESIDENT", 1}}},
      {"split_bf16", "mma_bf16", Precision::bf16x6, {}},
      {"split_bf16", "mma_bf16_large", Precision::bf16x6, {{"TSN", 128}, {"RESIDENT", 1}}},
      {"split_f16", "mma_f16_narrow_a", Precision::f16x3, {}, ElementType::bf16},
      {"split_f16", "mma_f16_narrow", Precision::f16x3, {}, ElementType::bf16, ElementType::fp16},
      {"split_bf16", "mma_bf16_narrow_b", Precision::bf16x6, {}, ElementType::fp16, ElementType::bf16},
  };
  return all;
}

// The memory of one call: its operands, one of which may be prepared, and its plan's workspaces.
class Memory {
 public:
  Memory(const Plan& plan, HostProblem& host) : Memory(plan, host.problem, host.a, host.b, host.c) {
    const auto slot = [](Operand operand) { return static_cast<std::size_t>(operand.slot); };
    if (host.problem.a_prepared || host.problem.b_prepared) {
      operands_[slot(host.problem.a_prepared ? operand_prepared_a : operand_prepared_b)] =
          add_workspace(prepared_bytes(host.problem));
    }
  }
  Memory(const Plan& plan, GroupedProduct& product)
      : Memory(plan, product.problem, product.a, product.b, product.c) {
    operands_[static_cast<std::size_t>(operand_ends.slot)] = product.ends.data();
  }
  void* of(Operand operand) const { return operands_.at(static_cast<std::size_t>(operand.slot)); }
  // Workspace is given to kernels by its address in place of an offset, as memory that a caller of CUDA
  // lends.
  bool lent = false;
  bool is_lent(Operand operand) const { return lent && operand.slot >= first_workspace; }

 private:
  Memory(const Plan& plan, const Problem& problem, const std::vector<float>& a, const std::vector<float>& b,
         std::vector<float>& c)
      : a_(stored(a, problem.a_type)),
        b_(stored(b, problem.b_type)),
        operands_{a_.data(), b_.data(), c.data()} {
    operands_.resize(first_workspace);  // there are no tables
    for (const std::size_t bytes : plan.workspace_bytes) {
      operands_.push_back(add_workspace(bytes));
    }
  }
  void* add_workspace(std::size_t bytes) {
    return workspaces_.emplace_back(bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN()).data();
  }

  std::vector<float> a_, b_;
  std::vector<void*> operands_;  // by their slots
  std::vector<std::vector<float>> workspaces_;
};

// Runs one step, whose matrices begin where their memory does.
void run(const Step& step, const Scalars& scalars, const Memory& memory, const char* name) {
  std::vector<void*> pointers;
  StructArgument numbers;
  for (const StepArgument& argument : step.arguments) {
    if (const auto* operand = std::get_if<Operand>(&argument)) {
      pointers.push_back(memory.is_lent(*operand) ? nullptr : memory.of(*operand));
    } else {
      numbers = std::get<StructArgument>(argument);
    }
  }
  for (const auto& [at, scalar] : numbers.factors) {
    const float factor = scalar == ScalarOf::alpha ? scalars.alpha : scalars.beta;
    std::memcpy(numbers.values.data() + at, &factor, sizeof factor);
  }
  for (const auto& [at, operand] : numbers.offsets) {
    if (memory.is_lent(operand)) {
      std::int64_t offset = 0;
      std::memcpy(&offset, numbers.values.data() + at, sizeof offset);
      offset +=
          static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.of(operand)) / sizeof(float));
      std::memcpy(numbers.values.data() + at, &offset, sizeof offset);
    }
  }
  emulation::kernels().at(name)(step.geometry.groups, pointers, numbers.values.data());
}

enum class Steps { split_and_multiply, all };

// C.
std::vector<float> multiplied(const Setting& setting, HostProblem host, std::int64_t splits = 1,
                              Steps steps = Steps::split_and_multiply, bool lent = false,
                              const DeviceInfo& device = ampere()) {
  const Plan plan =
      lower(schedule_for({&find_kernel("tensor_mma"), setting.tunables, splits}, host.problem, device),
            host.problem, device);
  Memory memory(plan, host);
  memory.lent = lent;
  if (host.problem.a_prepared || host.problem.b_prepared) {
    run(plan_preparation(host.problem, ampere()).steps.at(0), {}, memory, setting.split);
  }
  const auto first = plan.steps.begin(), product = first + static_cast<std::ptrdiff_t>(plan.multiply);
  std::for_each(first, product, [&](const Step& step) { run(step, plan.scalars, memory, setting.split); });
  run(*product, plan.scalars, memory, setting.product);
  if (steps == Steps::all) {
    run(plan.steps.back(), plan.scalars, memory, "fixup");
  }
  return host.c;
}

bool is_right(const HostProblem& host, const std::vector<float>& c) {
  bool right = true;
  for (std::size_t i = 0; i < host.c_places.size(); ++i) {
    const auto from = [](const std::vector<float>& all, std::int64_t place) {
      return std::span(all).subspan(static_cast<std::size_t>(place));
    };
    const Oracle oracle(host.problem, from(host.a, host.a_places[i]), from(host.b, host.b_places[i]),
                        from(host.c, host.c_places[i]));
    right = right && oracle.compare(from(c, host.c_places[i])).ok();
  }
  return right;
}

// Of numbers that the operands can store.
HostProblem random_numbers(const Problem& problem) {
  HostProblem host = random_problem(problem, Distribution::signed_unit, 7);
  const auto round = [](std::vector<float>& values, ElementType type) {
    for (float& value : values) {
      value = type == ElementType::fp32 ? value : value_of(nearest_bits(value, type), type);
    }
  };
  round(host.a, problem.a_type);
  round(host.b, problem.b_type);
  return host;
}

void expect_right(const Setting& setting, const Problem& problem, std::int64_t splits = 1) {
  const HostProblem host = random_numbers(problem);
  EXPECT_TRUE(is_right(host, multiplied(setting, host, splits)))
      << setting.product << ", " << splits << " slices";
}

Problem problem_for(const Setting& setting, std::int64_t m, std::int64_t n, std::int64_t k,
                    const char* ops = "NN", std::int64_t gap = 0, std::int64_t batch = 1) {
  Problem problem = problem_of(m, n, k, ops, gap, batch);
  problem.precision = setting.precision;
  problem.a_type = setting.a_type;
  problem.b_type = setting.b_type;
  return problem;
}

TEST(TensorEmulation, IsRightAtTheEdgesOfTiles) {
  for (const Setting& setting : settings()) {
    for (const auto& [m, n, k] : {std::array{1, 1, 1}, {129, 65, 33}, {140, 130, 110}}) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k));
      expect_right(setting, problem_for(setting, m, n, k));
    }
  }
}

// A work-group of the only compute unit splits up to four blocks: in vectors, one by one along rows, past the
// end of k, and in chunks of both kinds.
TEST(TensorEmulation, SplitsSeveralBlocksInAWorkGroup) {
  for (const Setting& setting : settings()) {
    for (const auto& [ops, k, gap] : {std::tuple("TN", 136, 0), {"NT", 136, 0}, {"TN", 133, 3}}) {
      const HostProblem host = random_numbers(problem_for(setting, 130, 136, k, ops, gap));
      EXPECT_TRUE(is_right(host, multiplied(setting, host, 1, Steps::split_and_multiply, false, ampere(1))))
          << setting.product << " " << ops << " " << k;
    }
  }
}

// Strips are 1024 rows of C high, and the last one is not.
TEST(TensorEmulation, CoversTheLastStripOfTiles) {
  for (const Setting& setting : settings()) {
    expect_right(setting, problem_for(setting, 1200, 140, 8));
  }
}

TEST(TensorEmulation, AddsUpSlices) {
  for (const Setting& setting : settings()) {
    expect_right(setting, problem_for(setting, 130, 70, 130), 2);
  }
}

TEST(TensorEmulation, TakesEveryFormOfTheCall) {
  for (const Setting& setting : settings()) {
    Problem problem = problem_for(setting, 70, 66, 40, "TT", 3, 2);
    problem.alpha = -0.5f;
    problem.beta = 2.0f;
    problem.a_aligned = problem.b_aligned = problem.c_aligned = false;
    expect_right(setting, problem);
  }
}

// Panels with a NaN are not written; everything else is.
TEST(TensorEmulation, LeavesOutWhatTermsDoNotHold) {
  for (const Setting& setting : settings()) {
    HostProblem host = random_numbers(problem_for(setting, 100, 140, 20));
    host.c.assign(host.c.size(), 7.0f);
    host.b[139 * 20 + 19] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> c = multiplied(setting, host);
    for (std::size_t at = 0; at < c.size(); at += 7) {
      EXPECT_EQ(c[at] == 7.0f, at / 100 >= 128) << setting.product << " " << at;
    }
  }
}

// Three work-groups walk over nine tiles of the fix-up, and over the batch. Terms do not hold numbers that
// are far from the others of their block.
TEST(TensorEmulation, PatchesWhatItLeavesOut) {
  for (const Setting& setting : {settings()[0], settings()[2], settings()[4], settings()[6]}) {
    Problem problem = problem_for(setting, 270, 260, 20, "NN", 0, 2);
    problem.a_aligned = problem.b_aligned = problem.c_aligned = false;
    HostProblem host = random_numbers(problem);
    const auto far = [](ElementType type) { return type == ElementType::fp16 ? infinity : 0x1p60f; };
    host.a[260] = far(setting.a_type);
    host.b[static_cast<std::size_t>(problem.b_stride + 200 * problem.ldb)] = far(setting.b_type);
    EXPECT_FALSE(is_right(host, multiplied(setting, host))) << setting.product;
    EXPECT_TRUE(is_right(host, multiplied(setting, host, 1, Steps::all, true))) << setting.product;
  }
}

// What was split before has the same terms, laid out for tiles of any size.
TEST(TensorEmulation, MultipliesAPreparedOperandToTheSameBits) {
  for (const Setting& setting : {settings()[0], settings()[1], settings()[2], settings()[4], settings()[6]}) {
    Problem problem = problem_for(setting, 140, 130, 70);
    problem.beta = 0.5f;
    problem.a_aligned = problem.b_aligned = problem.c_aligned = false;
    HostProblem host = random_numbers(problem);
    const auto far = [](ElementType type) { return type == ElementType::fp16 ? infinity : 0x1p60f; };
    host.a[135] = far(setting.a_type);
    host.b[static_cast<std::size_t>(129 * problem.ldb)] = far(setting.b_type);
    const std::vector<float> expected = multiplied(setting, host, 2, Steps::all);
    EXPECT_TRUE(is_right(host, expected)) << setting.product;
    for (const bool is_a : {true, false}) {
      host.problem.a_prepared = is_a;
      host.problem.b_prepared = !is_a;
      const std::vector<float> c = multiplied(setting, host, 2, Steps::all);
      EXPECT_EQ(std::memcmp(c.data(), expected.data(), sizeof(float) * c.size()), 0)
          << setting.product << ", " << (is_a ? "A" : "B") << " prepared";
    }
  }
}

// By the plan of a schedule, all of its steps.
void expect_right_groups(const Setting& setting, const ScheduleRequest& request, GroupedProduct product,
                         bool lent = false) {
  const Problem& problem = product.problem;
  const Plan plan = lower(schedule_for(request, problem, ampere()), problem, ampere());
  Memory memory(plan, product);
  memory.lent = lent;
  for (const Step& step : plan.steps) {
    const std::string& kernel = step.kernel->spec->name;
    run(step, plan.scalars, memory,
        kernel == "split"        ? setting.split
        : kernel == "tensor_mma" ? setting.product
                                 : kernel.c_str());
  }
  product.expect_right(product.c);
}

// Steps of the problem's plan at the level batch_invariant, and C.
std::vector<float> multiplied_invariantly(const Setting& setting, HostProblem host,
                                          Steps steps = Steps::all) {
  host.problem.level = Reproducibility::batch_invariant;
  const Plan plan =
      lower(schedule_for({&find_kernel("tensor_mma"), setting.tunables}, host.problem, ampere()),
            host.problem, ampere());
  Memory memory(plan, host);
  const std::string terms = setting.split;
  for (const Step& step : plan.steps) {
    const std::string& kernel = step.kernel->spec->name;
    if (steps != Steps::all && kernel == "fixup") {
      continue;
    }
    const std::string name = kernel == "split"        ? terms + "_by_rows"
                             : kernel == "tensor_mma" ? setting.product
                                                      : kernel;
    run(step, plan.scalars, memory, name.c_str());
  }
  return host.c;
}

// The bits, but one NaN for all.
std::uint32_t bits_of(float value) {
  return value != value ? 0x7fc00000u : std::bit_cast<std::uint32_t>(value);
}

// At the level batch_invariant a few rows of A and columns of B by themselves have the bits that they have
// among others: whose values are far larger or smaller, infinite, or such that terms do not hold them.
TEST(TensorEmulation, HasTheSameBitsWhateverOtherRowsHold) {
  for (const Setting& setting : {settings()[0], settings()[3]}) {
    SCOPED_TRACE(setting.product);
    const auto stored = [&](std::int64_t m, std::int64_t n) {
      Problem problem = problem_for(setting, m, n, 70);
      problem.a_aligned = problem.b_aligned = problem.c_aligned = false;  // as the fix-up is compiled
      return random_numbers(problem);
    };
    const auto a_of = [](HostProblem& host, std::int64_t row, std::int64_t p) -> float& {
      return host.a[index(p * host.problem.lda + row)];
    };
    const auto b_of = [](HostProblem& host, std::int64_t p, std::int64_t col) -> float& {
      return host.b[index(col * host.problem.ldb + p)];
    };
    HostProblem all = stored(140, 150);
    for (std::int64_t p = 0; p < all.problem.k; ++p) {  // which 16 bits hold as well
      a_of(all, 30, p) *= 0x1p-9f;
      b_of(all, p, 31) *= 0x1p9f;
      a_of(all, 32, p) = 0.0f;
    }
    const auto least = [](ElementType type) { return type == ElementType::fp16 ? 0x1p-24f : 0x1p-40f; };
    a_of(all, 33, 3) = infinity;
    a_of(all, 34, 69) = least(setting.a_type);
    b_of(all, 4, 129) = least(setting.b_type);
    b_of(all, 68, 140) = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> c = multiplied_invariantly(setting, all);
    EXPECT_TRUE(is_right(all, c));
    for (const auto& [row, col] : {std::pair(29, 128), {32, 30}, {33, 139}}) {
      HostProblem few = stored(2, 3);
      for (std::int64_t p = 0; p < all.problem.k; ++p) {
        for (std::int64_t i = 0; i < 2; ++i) {
          a_of(few, i, p) = a_of(all, row + i, p);
        }
        for (std::int64_t j = 0; j < 3; ++j) {
          b_of(few, p, j) = b_of(all, p, col + j);
        }
      }
      const std::vector<float> same = multiplied_invariantly(setting, few);
      for (std::int64_t i = 0; i < 6; ++i) {
        EXPECT_EQ(bits_of(same[index(i)]), bits_of(c[index((col + i / 2) * 140 + row + i % 2)]))
            << row + i % 2 << ", " << col + i / 2;
      }
    }
  }
}

// A work-group does not have a row of so many k at once. Each has its largest value at the end, which terms
// hold by themselves.
TEST(TensorEmulation, FindsTheScalesOfLongRows) {
  for (const auto& [number, ops] : {std::pair(0, "NN"), {3, "TT"}}) {
    const Setting& setting = settings()[index(number)];
    const Problem problem = problem_for(setting, 20, 10, 1100, ops, 1, 2);
    HostProblem host = random_numbers(problem);
    const auto at_the_end = [&](std::vector<float>& values, bool along_k, std::int64_t ld, std::int64_t rows,
                                std::int64_t stride) {
      for (std::int64_t i = 0; i < 2 * rows; ++i) {
        const std::int64_t row = i % rows, last = problem.k - 1;
        values[index(i / rows * stride + (along_k ? row * ld + last : last * ld + row))] = 64.0f;
      }
    };
    at_the_end(host.a, problem.a_op == Transpose::yes, problem.lda, problem.m, problem.a_stride);
    at_the_end(host.b, problem.b_op == Transpose::no, problem.ldb, problem.n, problem.b_stride);
    EXPECT_TRUE(is_right(host, multiplied_invariantly(setting, host, Steps::split_and_multiply)))
        << setting.product << " " << ops;
  }
}

// Groups of no column, of one, and of more than a tile; after the last end is nothing.
TEST(TensorEmulation, MultipliesGroups) {
  for (const auto& [number, ops] : {std::pair(0, "NN"), {3, "TT"}, {6, "NT"}}) {
    const Setting& setting = settings()[index(number)];
    SCOPED_TRACE(setting.product);
    Problem problem = problem_for(setting, 70, 140, 40, ops, 1);
    problem.beta = 0.5f;
    GroupedProduct product(problem, {0, 1, 1, 130}, 3);
    product.a[2] = setting.a_type == ElementType::fp16 ? infinity : 0x1p60f;  // for the fix-up
    expect_right_groups(setting, {&find_kernel("tensor_mma"), setting.tunables, 2}, std::move(product),
                        setting.a_type != setting.b_type);
  }
}

TEST(TensorEmulation, MultipliesGroupsInFp32) {
  const Setting& none = settings()[0];
  Problem problem = problem_of(70, 90, 20, "NN", 1);
  problem.alpha = 2.0f;
  expect_right_groups(none, {&find_kernel("grouped"), {{"K_MAJOR", 1}}},
                      GroupedProduct(problem, {16, 16, 40, 90}, 4));
}

}  // namespace
}  // namespace duogemm::testing
