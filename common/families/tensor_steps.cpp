// The steps of a product on tensor cores: operands become split terms, these are multiplied, and a last step
// computes what they cannot hold.
#include <algorithm>

#include "families/plan.h"
#include "families/schedule.h"
#include "families/storage.h"
#include "families/tensor.h"

namespace duogemm {
namespace {

Operand workspace(Plan& plan, std::int64_t elements) {
  const Operand operand{first_workspace + static_cast<int>(plan.workspace_bytes.size())};
  // A kernel that gets a workspace which it does not use gets one all the same.
  plan.workspace_bytes.push_back(sizeof(float) *
                                 static_cast<std::size_t>(std::max<std::int64_t>(elements, 1)));
  return operand;
}

// Tiles of that many rows of C are rasterised before those of the next rows. On an H100 and an H200, 4 tiles
// of 256 rows were up to 3 percent faster than 8 for matrices of 8192 and 16384 rows, and as fast for smaller
// ones.
constexpr std::int64_t rasterised_rows = 1024;

struct Terms {
  OperandTerms layout;
  Operand operand;
  TermsLayout arguments(std::int64_t offset = 0) const { return {offset, layout.panels, layout.members}; }
};

SplitOperand split_operand(std::int64_t rows, const StepMatrix& matrix, bool along_k, const Terms& terms) {
  return {rows, matrix.layout, along_k, 0, terms.layout.panels, terms.layout.members};
}

void add_split(Plan& plan, const Tunables& tensor, const Problem& p, const Terms& a, const Terms& b,
               Operand sums, std::int64_t counters, const DeviceInfo& device) {
  const Variant& kernel = split_program(tensor);
  Geometry geometry = kernel.spec->geometry(1, 1, kernel.tunables);
  geometry.groups[0] = static_cast<std::size_t>((a.layout.panels + b.layout.panels) * a.layout.blocks);
  geometry.groups[1] =
      std::min(static_cast<std::size_t>(std::max(a.layout.members, b.layout.members)), device.max_groups[1]);

  const StepMatrix of_a = matrix_a(p), of_b = matrix_b(p);
  const SplitArguments split{p.k, split_operand(p.m, of_a, p.a_op == Transpose::yes, a),
                             split_operand(p.n, of_b, p.b_op == Transpose::no, b), 0, counters};
  add_step(plan, kernel, geometry,
           {struct_argument(split, {{&split.a.x.offset, of_a.operand},
                                    {&split.a.y_offset, a.operand},
                                    {&split.b.x.offset, of_b.operand},
                                    {&split.b.y_offset, b.operand},
                                    {&split.counters_offset, sums}}),
            of_a.operand, of_a.table, a.operand, of_b.operand, of_b.table, b.operand, sums},
           device);
}

std::size_t room_for(const Variant& kernel, const DeviceInfo& device) {
  return std::max<std::size_t>(device.compute_units, 1) * static_cast<std::size_t>(kernel.surely_resident);
}

// Work-groups of clusters have a split of one tile each. The others walk over all splits: as many as the
// device has room for.
Geometry product_geometry(const Variant& kernel, const Problem& p, std::int64_t splits, bool clustered,
                          const DeviceInfo& device) {
  Geometry geometry = kernel.spec->geometry(p.m, p.n, kernel.tunables);
  if (clustered) {
    geometry.groups[0] *= static_cast<std::size_t>(p.batch);
    geometry.groups[2] = geometry.cluster = static_cast<std::size_t>(splits);
    return geometry;
  }
  const std::size_t room = room_for(kernel, device);
  for (const std::int64_t times : {splits, p.batch}) {  // a product that cannot overflow
    geometry.groups[0] = std::min(geometry.groups[0], room) * std::min(static_cast<std::size_t>(times), room);
  }
  geometry.groups[0] = std::min(geometry.groups[0], room);
  return geometry;
}

void add_product(Plan& plan, const Variant& kernel, const Problem& p, const Terms& a, const Terms& b,
                 Operand sums, std::int64_t splits, bool clustered, const DeviceInfo& device) {
  const StepMatrix c = matrix_c(p), d = matrix_d(p);
  TensorArguments product{};
  product.M = p.m;
  product.N = p.n;
  product.K = p.k;
  product.a = a.arguments();
  product.b = b.arguments();
  product.c = c.layout;
  product.d = d.layout;
  product.batch = p.batch;
  product.k_splits = splits;
  product.clustered = clustered;
  product.group_m = std::min(rasterised_rows / kernel.tile.m, ceil_div(p.m, kernel.tile.m));
  product.pairs = c_in_vectors(p);
  add_step(plan, kernel, product_geometry(kernel, p, splits, clustered, device),
           {struct_argument(product, {{&product.a.offset, a.operand},
                                      {&product.b.offset, b.operand},
                                      {&product.c.offset, c.operand},
                                      {&product.d.offset, d.operand},
                                      {&product.w_offset, sums},
                                      {&product.alpha, ScalarOf::alpha},
                                      {&product.beta, ScalarOf::beta}}),
            a.operand, b.operand, c.operand, c.table, d.operand, d.table, sums},
           device);
}

// Work-groups walk over tiles and over the batch: as many as the device has room for, because each looks
// through all scales first.
Geometry fixup_geometry(const Variant& kernel, const Problem& p, const DeviceInfo& device) {
  Geometry geometry = kernel.spec->geometry(p.m, p.n, kernel.tunables);
  const std::size_t room = room_for(kernel, device);
  geometry.groups[0] = std::min(geometry.groups[0], room);
  geometry.groups[1] = std::min(static_cast<std::size_t>(p.batch), room / geometry.groups[0]);
  return geometry;
}

// Computes what split terms cannot hold.
void add_fixup(Plan& plan, const Variant& tensor, const Problem& p, const Terms& a, const Terms& b,
               const DeviceInfo& device) {
  const Variant& kernel = fixup_program(p);
  const StepMatrix of_a = matrix_a(p), of_b = matrix_b(p), c = matrix_c(p), d = matrix_d(p);
  FixupArguments fixup{};
  fixup.product = sizes_of(p);
  fixup.product.a = of_a.layout;
  fixup.product.b = of_b.layout;
  fixup.product.c = c.layout;
  fixup.product.d = d.layout;
  order_tiles(fixup.product, p, at(kernel.tunables, "TSM"));
  fixup.a_scales = a.arguments(a.layout.size);
  fixup.b_scales = b.arguments(b.layout.size);
  fixup.a_panels_in_tile = ceil_div(tensor.tile.m, PANEL);
  fixup.blocks = a.layout.blocks;
  add_step(plan, kernel, fixup_geometry(kernel, p, device),
           {struct_argument(fixup, {{&fixup.product.a.offset, of_a.operand},
                                    {&fixup.product.b.offset, of_b.operand},
                                    {&fixup.product.c.offset, c.operand},
                                    {&fixup.product.d.offset, d.operand},
                                    {&fixup.product.alpha, ScalarOf::alpha},
                                    {&fixup.product.beta, ScalarOf::beta},
                                    {&fixup.a_scales.offset, a.operand},
                                    {&fixup.b_scales.offset, b.operand}}),
            of_a.operand, of_a.table, of_b.operand, of_b.table, c.operand, c.table, d.operand, d.table,
            a.operand, b.operand},
           device);
}

}  // namespace

Plan lower_on_tensor_cores(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) {
  const Variant& kernel = *schedule.kernel;
  const Tunables& t = kernel.tunables;
  const OperandTerms of_a = terms_of_a(t, problem);
  const OperandTerms of_b = terms_of_b(t, problem);
  // As many splits as have something to do.
  const std::int64_t length = ceil_div(of_a.blocks, schedule.splits);
  const std::int64_t splits = ceil_div(of_a.blocks, length);
  const std::size_t tiles = kernel.spec->geometry(problem.m, problem.n, t).groups[0];
  const bool clustered = schedule.clustered && splits > 1 &&
                         tiles <= device.max_groups[0] / static_cast<std::size_t>(problem.batch);
  const SplitsLayout layout = splits_layout(t, problem, clustered ? 1 : splits);

  Plan plan;
  plan.scalars = {problem.alpha, problem.beta};
  const Terms a{of_a, workspace(plan, of_a.elements())};
  const Terms b{of_b, workspace(plan, of_b.elements())};
  const Operand sums = workspace(plan, layout.elements);
  add_split(plan, t, problem, a, b, sums, layout.counters, device);
  plan.multiply = plan.steps.size();
  add_product(plan, kernel, problem, a, b, sums, splits, clustered, device);
  add_fixup(plan, kernel, problem, a, b, device);
  return plan;
}

}  // namespace duogemm
