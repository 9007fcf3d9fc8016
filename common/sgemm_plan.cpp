#include <algorithm>
#include <limits>

#include "kernel_source.h"
#include "plan.h"

namespace duogemm {
namespace {

// Above this many elements of C along each side, large tiles fill a device well enough to be worth their
// fewer loads.
constexpr std::int64_t large_side = 1024;

Tunables tile_for(const Problem& problem) {
  return std::min(problem.m, problem.n) >= large_side
             ? Tunables{{"TSM", 128}, {"TSN", 128}, {"WPTM", 8}, {"WPTN", 8}}
             : Tunables{};
}

// As many work-groups along the batch as the device allows; each walks over the rest.
Geometry spread_over_batch(Geometry geometry, std::int64_t batch, const DeviceInfo& device) {
  geometry.groups[1] = std::min(static_cast<std::size_t>(batch), device.max_groups[1]);
  return geometry;
}

}  // namespace

Tunables decided_tunables(const Problem& problem) {
  return {{"TRANS_A", problem.a_op == Transpose::yes},
          {"TRANS_B", problem.b_op == Transpose::yes},
          {"BATCH", static_cast<int>(problem.batch_by)}};  // in the order of the kernels' values
}

Plan plan_sgemm(const Problem& problem, const DeviceInfo& device) {
  validate(problem);
  if (problem.is_empty()) {
    return {};
  }
  return problem.multiplies() ? plan_sgemm(find_kernel("general"), tile_for(problem), problem, device)
                              : plan_sgemm(find_kernel("scale"), {}, problem, device);
}

Plan plan_sgemm(const KernelSpec& spec, const Tunables& set, const Problem& problem,
                const DeviceInfo& device) {
  Tunables chosen = applicable(decided_tunables(problem), load_kernel(spec.path).tunables);
  chosen.insert(set.begin(), set.end());
  const Tunables tunables = settle(spec, chosen);
  const auto offset = [](Operand operand) { return OffsetOf{operand}; };
  Plan plan;
  const Geometry geometry =
      spread_over_batch(spec.geometry(problem.m, problem.n, tunables), problem.batch, device);
  if (problem.multiplies()) {
    add_step(plan, spec, tunables, geometry,
             {problem.m,         problem.n,         problem.k,        problem.alpha,    operand_a,
              offset(operand_a), problem.lda,       problem.a_stride, table_a,          operand_b,
              offset(operand_b), problem.ldb,       problem.b_stride, table_b,          problem.beta,
              operand_c,         offset(operand_c), problem.ldc,      problem.c_stride, table_c,
              problem.batch},
             device);
  } else {
    add_step(plan, spec, tunables, geometry,
             {problem.m, problem.n, problem.beta, operand_c, offset(operand_c), problem.ldc, problem.c_stride,
              table_c, problem.batch},
             device);
  }
  return plan;
}

}  // namespace duogemm
