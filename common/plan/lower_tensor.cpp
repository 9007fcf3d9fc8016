#include "plan/lower_tensor.h"

#include <algorithm>

#include "families/gemm_parts.h"
#include "families/tensor_kernels.h"
#include "gemm/batch.h"
#include "gemm/tensor/arguments.h"
#include "plan/argument_lists.h"

namespace duogemm {
namespace {

Place workspace(Plan& plan, std::int64_t elements) {
  const Operand operand{first_workspace + static_cast<int>(plan.workspace_bytes.size())};
  // A kernel that gets a workspace which it does not use gets one all the same.
  plan.workspace_bytes.push_back(sizeof(float) *
                                 static_cast<std::size_t>(std::max<std::int64_t>(elements, 1)));
  return {operand, OffsetOf{operand}, operand};
}

// Of C, whose tiles are all computed before those of the next strip. On an H100 and an H200, 4 tiles of 256
// rows were up to 3 percent faster than 8 for matrices of 8192 and 16384 rows, and as fast for smaller ones.
constexpr std::int64_t strip_rows = 1024;

struct Pieces {
  PiecesLayout layout;
  Place place;
};

void add_split(Plan& plan, const Tunables& tensor, const Problem& p, const Pieces& a, const Pieces& b,
               const Place& sums, std::int64_t counters, const DeviceInfo& device) {
  const KernelSpec& spec = find_kernel("split");
  const Variant& kernel = variant_of(spec, resolve(spec, split_for(tensor)));
  Geometry geometry = spec.geometry(1, 1, kernel.tunables);
  geometry.groups[0] = static_cast<std::size_t>((a.layout.panels + b.layout.panels) * a.layout.blocks);
  geometry.groups[1] =
      std::min(static_cast<std::size_t>(std::max(a.layout.members, b.layout.members)), device.max_groups[1]);

  const auto [X_0, x_offset_0, x_table_0] = place_of_a;
  const auto [X_1, x_offset_1, x_table_1] = place_of_b;
  const auto [Y_0, y_offset_0, no_table_0] = a.place;
  const auto [Y_1, y_offset_1, no_table_1] = b.place;
  const auto [Z, z_offset, no_table] = sums;
  const bool a_along_k = p.a_op == Transpose::yes;
  const bool b_along_k = p.b_op == Transpose::no;
  const std::int64_t depth = p.k, rows_0 = p.m, rows_1 = p.n;
  const std::int64_t row_step_0 = a_along_k ? p.lda : 1, k_step_0 = a_along_k ? 1 : p.lda;
  const std::int64_t row_step_1 = b_along_k ? p.ldb : 1, k_step_1 = b_along_k ? 1 : p.ldb;
  const std::int64_t x_stride_0 = p.a_stride, x_stride_1 = p.b_stride;
  const std::int64_t panels_0 = a.layout.panels, panels_1 = b.layout.panels;
  const std::int64_t members_0 = a.layout.members, members_1 = b.layout.members;
  add_step(plan, kernel, geometry, {SPLITTING(POINTER_ARGUMENT, ARGUMENT, ARGUMENT)}, device);
}

std::size_t room_for(const Variant& kernel, const DeviceInfo& device) {
  return std::max<std::size_t>(device.compute_units, 1) * static_cast<std::size_t>(kernel.surely_resident);
}

// Work-groups of clusters have a slice of one tile each. The others walk over all slices: as many as the
// device has room for.
Geometry product_geometry(const Variant& kernel, const Problem& p, std::int64_t slices, bool clustered,
                          const DeviceInfo& device) {
  Geometry geometry = kernel.spec->geometry(p.m, p.n, kernel.tunables);
  if (clustered) {
    geometry.groups[0] *= static_cast<std::size_t>(p.batch);
    geometry.groups[2] = geometry.cluster = static_cast<std::size_t>(slices);
    return geometry;
  }
  const std::size_t room = room_for(kernel, device);
  for (const std::int64_t times : {slices, p.batch}) {  // a product that cannot overflow
    geometry.groups[0] = std::min(geometry.groups[0], room) * std::min(static_cast<std::size_t>(times), room);
  }
  geometry.groups[0] = std::min(geometry.groups[0], room);
  return geometry;
}

void add_product(Plan& plan, const Variant& kernel, const Problem& p, const Pieces& a, const Pieces& b,
                 const Place& sums, std::int64_t k_slices, bool is_clustered, const DeviceInfo& device) {
  const Geometry geometry = product_geometry(kernel, p, k_slices, is_clustered, device);
  const auto [A, a_offset, no_table_a] = a.place;
  const auto [B, b_offset, no_table_b] = b.place;
  const auto [C, c_offset, c_table] = place_of_c;
  const auto [W, w_offset, no_table] = sums;
  const std::int64_t M = p.m, N = p.n, K = p.k, batch = p.batch, ldc = p.ldc, c_stride = p.c_stride;
  const std::int64_t a_panels = a.layout.panels, a_members = a.layout.members;
  const std::int64_t b_panels = b.layout.panels, b_members = b.layout.members;
  const std::int64_t c_pairs = c_in_vectors(p), clustered = is_clustered;
  const std::int64_t group_m = strip_rows / kernel.tile.m;
  const ScalarOf alpha = ScalarOf::alpha, beta = ScalarOf::beta;
  add_step(plan, kernel, geometry, {PRODUCT_OF_PIECES(POINTER_ARGUMENT, ARGUMENT, ARGUMENT)}, device);
}

// Work-groups walk over tiles and over the batch: as many as the device has room for, because each looks
// through all scales first.
Geometry patch_geometry(const Variant& kernel, const Problem& p, const DeviceInfo& device) {
  Geometry geometry = kernel.spec->geometry(p.m, p.n, kernel.tunables);
  const std::size_t room = room_for(kernel, device);
  geometry.groups[0] = std::min(geometry.groups[0], room);
  geometry.groups[1] = std::min(static_cast<std::size_t>(p.batch), room / geometry.groups[0]);
  return geometry;
}

// Computes what pieces cannot hold.
void add_patch(Plan& plan, const Variant& tensor, const Problem& p, const Pieces& a, const Pieces& b,
               const DeviceInfo& device) {
  const KernelSpec& spec = find_kernel("pipelined");
  const Variant& kernel = variant_of(spec, patch_for(p));
  std::vector<StepArgument> arguments = product_arguments(p, place_of_a, place_of_b, place_of_c);
  const auto append = [&](const std::vector<StepArgument>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
  };
  append(slice_arguments(p.k, 0, 1));
  append(tile_arguments(p, kernel.tile.m));
  const Operand a_scales = a.place.operand, b_scales = b.place.operand;
  const OffsetOf a_scales_offset{a_scales, a.layout.images}, b_scales_offset{b_scales, b.layout.images};
  const std::int64_t a_panels = a.layout.panels, a_split_members = a.layout.members;
  const std::int64_t b_panels = b.layout.panels, b_split_members = b.layout.members;
  const std::int64_t a_panels_in_tile = ceil_div(tensor.tile.m, PANEL), blocks = a.layout.blocks;
  append({PATCHED(POINTER_ARGUMENT, ARGUMENT)});
  add_step(plan, kernel, patch_geometry(kernel, p, device), std::move(arguments), device);
}

}  // namespace

Plan lower_on_tensor_cores(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) {
  const Variant& kernel = *schedule.kernel;
  const Tunables& t = kernel.tunables;
  const PiecesLayout of_a = pieces_of_a(t, problem);
  const PiecesLayout of_b = pieces_of_b(t, problem);
  // As many slices as have something to do.
  const std::int64_t length = ceil_div(of_a.blocks, schedule.slices);
  const std::int64_t slices = ceil_div(of_a.blocks, length);
  const std::size_t tiles = kernel.spec->geometry(problem.m, problem.n, t).groups[0];
  const bool clustered = schedule.clustered && slices > 1 &&
                         tiles <= device.max_groups[0] / static_cast<std::size_t>(problem.batch);
  const SlicesLayout layout = slices_layout(t, problem, clustered ? 1 : slices);

  Plan plan;
  plan.scalars = {problem.alpha, problem.beta};
  const Pieces a{of_a, workspace(plan, of_a.elements())};
  const Pieces b{of_b, workspace(plan, of_b.elements())};
  const Place sums = workspace(plan, layout.elements);
  add_split(plan, t, problem, a, b, sums, layout.counters, device);
  plan.multiply = plan.steps.size();
  add_product(plan, kernel, problem, a, b, sums, slices, clustered, device);
  add_patch(plan, kernel, problem, a, b, device);
  return plan;
}

}  // namespace duogemm
