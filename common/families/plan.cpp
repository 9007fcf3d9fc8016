#include "families/plan.h"

#include <algorithm>
#include <numeric>

#include "families/storage.h"
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

StepMatrix matrix_a(const Problem& p) { return {operand_a, table_a, {0, p.lda, p.a_stride}}; }

StepMatrix matrix_b(const Problem& p) { return {operand_b, table_b, {0, p.ldb, p.b_stride}}; }

StepMatrix matrix_c(const Problem& p) {
  return p.addend_apart ? StepMatrix{operand_addend, operand_none, {0, p.addend_ld, p.addend_stride}}
                        : matrix_d(p);
}

StepMatrix matrix_d(const Problem& p) { return {operand_c, table_c, {0, p.ldc, p.c_stride}}; }

GemmArguments sizes_of(const Problem& p) {
  GemmArguments sizes{};
  sizes.M = p.m;
  sizes.N = p.n;
  sizes.K = p.k;
  sizes.batch = p.batch;
  sizes.split_length = p.k;
  sizes.cluster = 1;
  return sizes;
}

std::vector<StepArgument> gemm_arguments(GemmArguments sizes, const StepMatrix& a, const StepMatrix& b,
                                         const StepMatrix& c, const StepMatrix& d, Factors factors) {
  sizes.a = a.layout;
  sizes.b = b.layout;
  sizes.c = c.layout;
  sizes.d = d.layout;
  sizes.alpha = 1.0f;
  StructArgument argument = struct_argument(sizes, {{&sizes.a.offset, a.operand},
                                                    {&sizes.b.offset, b.operand},
                                                    {&sizes.c.offset, c.operand},
                                                    {&sizes.d.offset, d.operand}});
  if (factors == Factors::of_call) {
    argument.members.push_back({offsetof(GemmArguments, alpha), ScalarOf::alpha});
    argument.members.push_back({offsetof(GemmArguments, beta), ScalarOf::beta});
  }
  return {std::move(argument), a.operand, a.table,   b.operand, b.table,
          c.operand,           c.table,   d.operand, d.table};
}

std::vector<StepArgument> reduce_arguments(ReduceArguments sizes, Operand sums, const StepMatrix& c,
                                           const StepMatrix& d) {
  sizes.c = c.layout;
  sizes.d = d.layout;
  return {struct_argument(sizes, {{&sizes.p_offset, sums},
                                  {&sizes.c.offset, c.operand},
                                  {&sizes.d.offset, d.operand},
                                  {&sizes.alpha, ScalarOf::alpha},
                                  {&sizes.beta, ScalarOf::beta}}),
          sums, c.operand, d.operand};
}

void order_tiles(GemmArguments& sizes, const Problem& problem, std::int64_t tile_m) {
  // That many tiles along M come before the next along N: of the settings that were measured, with 1 to 32 on
  // a device of compute capability 9.0, most were fastest with 8. It is no more than there are: a kernel
  // multiplies it by the tiles along N, in 32 bits, which all tiles fit in.
  sizes.group_m = std::min<std::int64_t>(8, ceil_div(problem.m, tile_m));
  sizes.vectors = c_in_vectors(problem);
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
