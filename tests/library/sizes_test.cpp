// Sizes, leading dimensions, strides, batches and workspaces up to the largest 64-bit number, beside
// arithmetic that does not overflow: what reaches beyond 2^60 elements is refused by name, and for all else
// there is a plan whose workspaces are as long as they must be, or an error that says why not. Nothing here
// needs a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "devices.h"
#include "draw.h"
#include "plan/lower.h"
#include "problem/problem.h"
#include "refusal.h"
#include "runtime/runtime.h"
#ifdef DUOGEMM_WITH_CUDA
#include "cuda_device.h"
#include "duogemm/cuda.h"
#include "duogemm/cuda.hpp"
#endif

namespace duogemm::testing {
namespace {

// In which no product of three sizes is cut off where it matters.
__extension__ typedef __int128 Wide;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

bool chance(Draw& draw, std::int64_t of) { return draw.between(1, of) == 1; }

// Small, around a power of two, or the largest there is.
std::int64_t size(Draw& draw) {
  const std::int64_t kind = draw.between(0, 63);
  if (kind < 24) {
    return draw.between(1, 40);
  }
  return kind == 63
             ? largest - draw.between(0, 1)
             : std::max<std::int64_t>((std::int64_t{1} << draw.between(0, 62)) - 1 + draw.between(0, 2), 0);
}

std::int64_t at_least(Draw& draw, std::int64_t least) {
  return chance(draw, 3) ? std::max(least, size(draw)) : std::max<std::int64_t>(least, 1);
}

// In which most sizes are valid by themselves, so that what counts is how far matrices reach.
Sgemm draw_request(Draw& draw) {
  Sgemm r;
  r.layout = draw.one_of({Layout::row_major, Layout::column_major});
  r.a_op = draw.one_of({Transpose::yes, Transpose::no});
  r.b_op = draw.one_of({Transpose::yes, Transpose::no});
  r.level = draw.one_of({Reproducibility::everywhere, Reproducibility::run_to_run});
  r.m = size(draw);
  r.n = size(draw);
  r.k = size(draw);
  r.beta = chance(draw, 2) ? 0.0f : 1.5f;
  const bool by_rows = r.layout == Layout::row_major;
  const auto length = [&](Transpose op, std::int64_t rows, std::int64_t cols) {
    return by_rows == (op == Transpose::no) ? cols : rows;
  };
  r.lda = at_least(draw, length(r.a_op, r.m, r.k));
  r.ldb = at_least(draw, length(r.b_op, r.k, r.n));
  r.ldc = at_least(draw, length(Transpose::no, r.m, r.n));
  r.batch = chance(draw, 3) ? size(draw) : 1;
  r.a_stride = chance(draw, 3) ? 0 : size(draw);
  r.b_stride = chance(draw, 3) ? 0 : size(draw);
  r.c_stride = size(draw);
  return r;
}

// One of the caller's matrices.
struct Matrix {
  const char* name;
  std::int64_t length;  // of what lies together
  std::int64_t lines;
  std::int64_t ld;
  std::int64_t stride;

  // Elements to which it reaches, or which it has with its batch: the larger number. Capped, so that a
  // product of three sizes cannot overflow either.
  Wide reach(std::int64_t batch) const {
    const auto times = [](Wide a, Wide b) { return std::min(a * b, Wide{1} << 64); };
    return std::max(times(batch - 1, stride) + times(lines - 1, ld) + length,
                    times(times(length, lines), batch));
  }
};

std::vector<Matrix> matrices_of(const Sgemm& r) {
  const bool by_rows = r.layout == Layout::row_major;
  const auto matrix = [&](const char* name, Transpose op, std::int64_t rows, std::int64_t cols,
                          std::int64_t ld, std::int64_t stride) {
    const bool cols_together = by_rows == (op == Transpose::no);
    return Matrix{name, cols_together ? cols : rows, cols_together ? rows : cols, ld, stride};
  };
  return {matrix("a", r.a_op, r.m, r.k, r.lda, r.a_stride), matrix("b", r.b_op, r.k, r.n, r.ldb, r.b_stride),
          matrix("c", Transpose::no, r.m, r.n, r.ldc, r.c_stride)};
}

// Gives what a refusal may say; nothing where the request must be accepted.
std::set<std::string> refusals_of(const Sgemm& r) {
  std::set<std::string> refusals;
  for (const Matrix& matrix : matrices_of(r)) {
    if (matrix.reach(r.batch) > most_elements) {
      refusals.insert(std::string(matrix.name) + " reaches beyond 2^60 elements");
    }
  }
  return refusals;
}

// Rounding in double decides there.
bool is_close_to_the_limit(const Sgemm& r) {
  return std::ranges::any_of(matrices_of(r), [&](const Matrix& matrix) {
    const Wide reach = matrix.reach(r.batch);
    return reach > most_elements && reach < most_elements + (most_elements >> 40);
  });
}

// In a batch that is not too large: that would be a refusal of another kind.
bool overlaps(const Sgemm& r) {
  const Matrix c = matrices_of(r).back();
  return refusals_of(r).empty() && members_overlap(c.length, c.lines, c.ld, c.stride, r.batch);
}

bool is_empty(const Sgemm& r) { return r.m == 0 || r.n == 0 || r.batch == 0 || r.k == 0 || r.c_stride == 0; }

std::vector<Sgemm> requests(std::size_t count) {
  Draw draw(20270301);
  std::vector<Sgemm> found;
  while (found.size() < count) {
    const Sgemm request = draw_request(draw);
    if (!is_empty(request) && !is_close_to_the_limit(request) && !overlaps(request)) {
      found.push_back(request);
    }
  }
  return found;
}

std::string text_of(const Sgemm& r) {
  std::string text = r.layout == Layout::row_major ? "by rows" : "by columns";
  text += r.a_op == Transpose::yes ? ", A transposed" : "";
  text += r.b_op == Transpose::yes ? ", B transposed" : "";
  text += "; m, n, k, their leading dimensions, batch and strides:";
  for (const std::int64_t number :
       {r.m, r.n, r.k, r.lda, r.ldb, r.ldc, r.batch, r.a_stride, r.b_stride, r.c_stride}) {
    text += " " + std::to_string(number);
  }
  return text;
}

TEST(Sizes, OfPackedMatricesLeaveNoGaps) {
  constexpr std::int64_t m = 3, n = 4, k = 5;
  constexpr auto no = Transpose::no, yes = Transpose::yes;
  const auto distances = [](const Sgemm& p) { return std::vector<std::int64_t>{p.lda, p.ldb, p.ldc}; };
  using Distances = std::vector<std::int64_t>;
  EXPECT_EQ(distances(Sgemm::packed(Layout::column_major, m, n, k)), (Distances{m, k, m}));
  EXPECT_EQ(distances(Sgemm::packed(Layout::column_major, m, n, k, yes, yes)), (Distances{k, n, m}));
  EXPECT_EQ(distances(Sgemm::packed(Layout::row_major, m, n, k)), (Distances{k, n, n}));
  EXPECT_EQ(distances(Sgemm::packed(Layout::row_major, m, n, k, yes, no)), (Distances{m, n, n}));
  EXPECT_EQ(distances(Sgemm::packed(Layout::row_major, 0, 0, 0)), (Distances{1, 1, 1}));
}

TEST(Sizes, BeyondWhatCanBeCountedAreRefusedByName) {
  std::size_t refused = 0;
  for (const Sgemm& request : requests(20000)) {
    const std::set<std::string> refusals = refusals_of(request);
    const std::string found = refusal([&] { to_column_major(request); });
    EXPECT_TRUE(refusals.empty() ? found == "accepted" : refusals.contains(found))
        << found << ": " << text_of(request);
    refused += !refusals.empty();
  }
  EXPECT_GT(refused, 5000u);
  EXPECT_LT(refused, 15000u);
}

// --- Plans on devices of every kind that the library knows ------------------------------------------------

std::vector<DeviceInfo> devices() {
  DeviceInfo endless = large_gpu();  // so that nothing but memory is short
  endless.max_groups.fill(std::numeric_limits<std::size_t>::max());
  return {large_gpu(), hopper(), cpu(16), endless};
}

TEST(Sizes, OfAnyValidProblemHaveAPlanOrAReason) {
  for (const DeviceInfo& device : devices()) {
    const Planner planner(device);
    for (const Sgemm& request : requests(3000)) {
      if (!refusals_of(request).empty()) {
        continue;
      }
      const Problem problem = to_column_major(request).problem;
      try {
        const Plan plan = plan_sgemm(problem, planner);
        Wide sum = 0;
        for (const std::size_t bytes : plan.workspace_bytes) {
          sum += bytes;
        }
        EXPECT_GE(Wide{lay_out_workspaces(plan, device).bytes}, sum) << text_of(request);
      } catch (const Error& error) {
        EXPECT_TRUE(error.status() == Status::out_of_memory || error.status() == Status::unsupported)
            << error.what() << ": " << text_of(request);
      }
    }
  }
}

TEST(Sizes, OfWorkspacesAddUpWithoutOverflow) {
  Plan plan;
  plan.workspace_bytes = {std::size_t{1} << 63, std::size_t{1} << 63};
  EXPECT_THROW(lay_out_workspaces(plan, DeviceInfo{}), Error);
  plan.workspace_bytes = {std::numeric_limits<std::size_t>::max(), 1};
  EXPECT_THROW(lay_out_workspaces(plan, DeviceInfo{}), Error);
}

#ifdef DUOGEMM_WITH_CUDA

// --- The CUDA entry points: what is wrong with a call is told before a driver is asked ---------------------

TEST(CudaSizes, AreLookedAtBeforeTheDriver) {
  constexpr std::int64_t large = std::int64_t{1} << 31;
  const Sgemm request{.m = large, .n = large, .k = 1, .lda = large, .ldb = 1, .ldc = large};
  float value = 0.0f;
  float* list[] = {&value};
  const float* const inputs[] = {&value};
  const std::function<void()> calls[] = {
      [&] { cuda::sgemm(nullptr, request, &value, &value, &value); },
      [&] { cuda::sgemm(nullptr, request, &value, &value, &value, cuda::Workspace{}); },
      [&] { cuda::sgemm_workspace_bytes(nullptr, request); },
      [&] { cuda::sgemm_batched(nullptr, request, inputs, inputs, list); },
      [&] { cuda::sgemm_batched_workspace_bytes(nullptr, request); }};
  for (const auto& call : calls) {
    EXPECT_EQ(refusal(call), "c reaches beyond 2^60 elements");
  }
  duogemm_problem problem = DUOGEMM_PROBLEM_INIT;
  problem.m = problem.n = problem.lda = problem.ldc = large;
  problem.k = problem.ldb = 1;
  std::size_t bytes = 7;
  EXPECT_EQ(duogemm_cuda_sgemm_workspace_bytes(nullptr, &problem, &bytes), DUOGEMM_INVALID_ARGUMENT);
  EXPECT_STREQ(duogemm_last_error(), "c reaches beyond 2^60 elements");
  EXPECT_EQ(bytes, 7u);
  EXPECT_EQ(duogemm_cuda_sgemm(nullptr, &problem, &value, &value, &value), DUOGEMM_INVALID_ARGUMENT);
  if (cuda::device_count() == 0) {
    problem.m = problem.n = 1;
    EXPECT_EQ(duogemm_cuda_sgemm(nullptr, &problem, &value, &value, &value), DUOGEMM_UNSUPPORTED);
  }
}

#endif

}  // namespace
}  // namespace duogemm::testing
