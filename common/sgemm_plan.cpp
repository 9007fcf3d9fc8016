#include <algorithm>

#include "planner.h"

namespace duogemm {
namespace {

// As many work-groups along the batch as the device allows; each walks over the rest.
Geometry spread_over_batch(Geometry geometry, std::int64_t batch, const DeviceInfo& device) {
  geometry.groups[1] = std::min(static_cast<std::size_t>(batch), device.max_groups[1]);
  return geometry;
}

// Where a kernel writes: C itself, or the parts of a split K.
struct Output {
  Operand operand;
  StepArgument offset;
  std::int64_t ld;
  std::int64_t stride;
};

std::vector<StepArgument> multiply_arguments(const Problem& p, const Output& c, float alpha, float beta) {
  return {p.m,
          p.n,
          p.k,
          alpha,
          operand_a,
          OffsetOf{operand_a},
          p.lda,
          p.a_stride,
          table_a,
          operand_b,
          OffsetOf{operand_b},
          p.ldb,
          p.b_stride,
          table_b,
          beta,
          c.operand,
          c.offset,
          c.ld,
          c.stride,
          table_c,
          p.batch};
}

void append(std::vector<StepArgument>& arguments, std::initializer_list<StepArgument> more) {
  arguments.insert(arguments.end(), more);
}

void add_scale(Plan& plan, const Problem& p, const DeviceInfo& device) {
  const KernelSpec& spec = find_kernel("scale");
  const Tunables tunables = settle(spec, {{"BATCH", static_cast<int>(p.batch_by)}});
  add_step(plan, spec, tunables, spread_over_batch(spec.geometry(p.m, p.n, tunables), p.batch, device),
           {p.m, p.n, p.beta, operand_c, OffsetOf{operand_c}, p.ldc, p.c_stride, table_c, p.batch}, device);
}

// The parts lie behind each other in the workspace, those of one member of the batch together.
void add_reduce(Plan& plan, const Problem& p, std::int64_t parts, const DeviceInfo& device) {
  const KernelSpec& spec = find_kernel("reduce");
  const Tunables tunables = settle(spec, {});
  add_step(plan, spec, tunables, spread_over_batch(spec.geometry(p.m, p.n, tunables), p.batch, device),
           {p.m, p.n, parts, Operand{first_workspace}, p.alpha, p.beta, operand_c, OffsetOf{operand_c}, p.ldc,
            p.c_stride, p.batch},
           device);
}

// The length of a part: a multiple of every tile in K and every vector.
std::int64_t part_length(std::int64_t k, std::int64_t parts) {
  constexpr std::int64_t granule = 32;
  return (k + parts * granule - 1) / (parts * granule) * granule;
}

}  // namespace

Plan carry_out(const Choice& choice, const Problem& problem, const DeviceInfo& device) {
  const KernelSpec& spec = *choice.spec;
  if (choice.parts > 1 && !may_split(spec, problem)) {
    throw Error(Status::invalid_argument,
                "parts=" + std::to_string(choice.parts) +
                    ": k is split by kernels that can, at the level run_to_run, and "
                    "not for batches by lists");
  }
  const std::int64_t length = choice.parts == 1 ? problem.k : part_length(problem.k, choice.parts);
  const std::int64_t parts = (problem.k + length - 1) / length;
  const std::int64_t c_elements = problem.m * problem.n;

  Problem target = problem;  // as the kernel sees it: with C packed when it writes parts
  if (parts > 1) {
    target.ldc = problem.m;
    target.c_stride = parts * c_elements;
    target.c_aligned = true;
  }
  const auto dictated = spec.dictated(target);
  if (!dictated) {
    throw Error(Status::invalid_argument, "kernel " + spec.name + " does not take this problem");
  }
  Tunables chosen = choice.tunables;
  for (const auto& [name, value] : *dictated) {
    chosen[name] = value;
  }
  const Tunables tunables = settle(spec, chosen);

  Plan plan;
  Geometry geometry = spread_over_batch(spec.geometry(problem.m, problem.n, tunables), problem.batch, device);
  geometry.groups[2] = static_cast<std::size_t>(parts);
  const Output output = parts == 1 ? Output{operand_c, OffsetOf{operand_c}, problem.ldc, problem.c_stride}
                                   : Output{{first_workspace}, std::int64_t{0}, target.ldc, target.c_stride};
  std::vector<StepArgument> arguments = parts == 1
                                            ? multiply_arguments(problem, output, problem.alpha, problem.beta)
                                            : multiply_arguments(problem, output, 1.0f, 0.0f);
  if (spec.splits_k) {
    append(arguments, {length, c_elements});
  }
  add_step(plan, spec, tunables, geometry, std::move(arguments), device);
  if (parts > 1) {
    plan.workspace_bytes.push_back(sizeof(float) *
                                   static_cast<std::size_t>(problem.batch * parts * c_elements));
    add_reduce(plan, problem, parts, device);
  }
  return plan;
}

Plan plan_sgemm(const Problem& problem, const DeviceInfo& device) {
  validate(problem);
  Plan plan;
  if (problem.is_empty()) {
    return plan;
  }
  if (!problem.multiplies()) {
    add_scale(plan, problem, device);
    return plan;
  }
  return carry_out(choose(problem, device, tuning_for(device)), problem, device);
}

}  // namespace duogemm
