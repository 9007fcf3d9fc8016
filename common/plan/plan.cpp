#include "plan/plan.h"

#include <algorithm>
#include <numeric>

#include "families/gemm_parts.h"
#include "gemm/batch.h"
#include "gemm/tiled/bias.h"
#include "plan/argument_lists.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

std::string times(const Extent& extent) {
  return std::to_string(extent[0]) + "x" + std::to_string(extent[1]) + "x" + std::to_string(extent[2]);
}

std::string describe(const Step& step) {
  return step.kernel->spec->name + " " + to_text(step.kernel->tunables) + ", " + times(step.geometry.groups) +
         " groups of " + times(step.geometry.local);
}

}  // namespace

std::string describe(const Plan& plan) {
  std::string text;
  for (const Step& step : plan.steps) {
    text += (text.empty() ? "" : "; ") + describe(step);
  }
  const std::size_t workspace =
      std::accumulate(plan.workspace_bytes.begin(), plan.workspace_bytes.end(), std::size_t{0});
  return workspace == 0 ? text : text + "; workspace of " + std::to_string(workspace) + " bytes";
}

std::size_t workspace_alignment(const DeviceInfo& device) {
  constexpr std::size_t least = 256;  // what CUDA's memory is aligned to: enough for any vector load
  return std::max(device.slice_alignment, least);
}

WorkspaceLayout lay_out_workspaces(const Plan& plan, const DeviceInfo& device) {
  const std::size_t alignment = workspace_alignment(device);
  WorkspaceLayout layout;
  for (const std::size_t bytes : plan.workspace_bytes) {
    const std::size_t begin = round_up(layout.bytes, alignment);
    if (begin < layout.bytes || begin + bytes < begin) {
      throw Error(Status::out_of_memory, "the workspaces would reach beyond 2^64 bytes");
    }
    layout.parts.push_back({begin, bytes});
    layout.bytes = begin + bytes;
  }
  return layout;
}

std::vector<StepArgument> product_arguments(const Problem& problem, const Place& a, const Place& b,
                                            const Place& c, StepArgument alpha, StepArgument beta) {
  // By the names in the kernels' list, which gives them their order.
  const auto [A, a_offset, a_table] = a;
  const auto [B, b_offset, b_table] = b;
  const auto [C, c_offset, c_table] = c;
  const std::int64_t M = problem.m, N = problem.n, K = problem.k, batch = problem.batch;
  const std::int64_t lda = problem.lda, ldb = problem.ldb, ldc = problem.ldc;
  const std::int64_t a_stride = problem.a_stride, b_stride = problem.b_stride, c_stride = problem.c_stride;
  return {PRODUCT(POINTER_ARGUMENT, ARGUMENT, ARGUMENT)};
}

std::vector<StepArgument> slice_arguments(std::int64_t k_chunk, std::int64_t chunk_stride,
                                          std::int64_t cluster) {
  return {K_SLICE(ARGUMENT)};
}

std::vector<StepArgument> tile_arguments(const Problem& problem, std::int64_t tile_m) {
  // How many tiles along M come before the next along N: of the settings that were measured, with 1 to 32 on
  // a device of compute capability 9.0, most were fastest with 8. No more than there are: a kernel multiplies
  // it by the tiles along N, in 32 bits, which all tiles fit in.
  const std::int64_t group_m = std::min<std::int64_t>(8, ceil_div(problem.m, tile_m));
  const std::int64_t c_vectors = c_in_vectors(problem);
  return {TILE_ORDER(ARGUMENT)};
}

std::vector<StepArgument> bias_arguments(const Problem& problem) {
  const Operand bias = operand_addend;
  const OffsetOf bias_offset{operand_addend};
  const std::int64_t bias_stride = problem.addend_stride;
  return {BIASED(POINTER_ARGUMENT, ARGUMENT)};
}

std::vector<StepArgument> cpu_tile_arguments(std::int64_t tile_m, std::int64_t tile_n) {
  return {CPU_TILE(ARGUMENT)};
}

Geometry spread_over_batch(Geometry geometry, std::int64_t batch, const DeviceInfo& device) {
  const auto members = static_cast<std::size_t>(batch);
  const std::size_t most = std::min(members, device.max_groups[1]);
  geometry.groups[1] = ceil_div(members, ceil_div(members, most));
  return geometry;
}

void add_step(Plan& plan, const Variant& kernel, const Geometry& geometry,
              std::vector<StepArgument> arguments, const DeviceInfo& device) {
  if (const auto reason = unsupported_reason(kernel, device)) {
    throw Error(Status::unsupported, *reason);
  }
  for (std::size_t i = 0; i < geometry.groups.size(); ++i) {
    if (geometry.groups[i] > device.max_groups[i]) {
      throw Error(Status::unsupported, std::to_string(geometry.groups[i]) + " work-groups in dimension " +
                                           std::to_string(i) + "; the device allows " +
                                           std::to_string(device.max_groups[i]));
    }
  }
  plan.steps.push_back({&kernel, geometry, std::move(arguments)});
}

}  // namespace duogemm
