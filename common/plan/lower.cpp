#include "plan/lower.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "families/cpu.h"
#include "families/kernel_parts.h"
#include "families/plan.h"
#include "problem/element_type.h"
#include "problem/precision.h"
#include "problem/problem.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

// Adds the step that makes D of a term, with the factors 1 and 0 or those of the call, or else of beta C, and
// of a bias, of which each may be missing.
void add_finish(Plan& plan, const Variant& kernel, const Problem& p, const StepMatrix& t, Factors factors,
                const DeviceInfo& device) {
  const bool has_term = t.operand != operand_none;
  const Operand bias = p.bias ? operand_bias : operand_none;
  const Operand alpha = p.device_scalars ? operand_alpha : operand_none;
  const Operand beta = p.device_scalars ? operand_beta : operand_none;
  const StepMatrix c = matrix_c(p), d = matrix_d(p);
  FinishArguments sizes{};
  sizes.M = p.m;
  sizes.N = p.n;
  sizes.batch = p.batch;
  sizes.t = t.layout;
  sizes.c = c.layout;
  sizes.d = d.layout;
  sizes.bias_stride = p.bias_stride;
  sizes.function = static_cast<std::int64_t>(p.activation);
  sizes.type = static_cast<std::int64_t>(p.c_type);
  sizes.alpha = has_term ? 1.0f : 0.0f;
  StructArgument argument = struct_argument(sizes, {{&sizes.t.offset, t.operand},
                                                    {&sizes.c.offset, c.operand},
                                                    {&sizes.d.offset, d.operand},
                                                    {&sizes.bias_offset, bias}});
  if (has_term && factors == Factors::of_call) {
    argument.factors.push_back({offsetof(FinishArguments, alpha), ScalarOf::alpha});
  }
  if (!has_term || factors == Factors::of_call) {
    argument.factors.push_back({offsetof(FinishArguments, beta), ScalarOf::beta});
  }
  Geometry geometry = spread_over_batch(kernel.spec->geometry(p.m, p.n, kernel.tunables), p.batch, device);
  Problem without_products = p;
  without_products.k = 0;
  geometry.cores = cores_for(without_products, device);
  add_step(
      plan, kernel, geometry,
      {std::move(argument), t.operand, t.table, c.operand, c.table, d.operand, d.table, alpha, beta, bias},
      device);
}

// What is left without products.
Plan scaled(const Variant& kernel, const Problem& p, const DeviceInfo& device) {
  Plan plan;
  plan.scalars = {p.alpha, p.beta};
  add_finish(plan, kernel, p, {operand_none, operand_none, {}}, Factors::of_call, device);
  return plan;
}

// The steps before `finish` have the rest of the problem: without alpha and beta, which are not known, the
// product alone, in a workspace.
Problem before_finish(const Problem& problem) {
  Problem p = problem;
  p.bias = p.device_scalars = false;
  p.activation = Activation::none;
  if (problem.keeps_sum()) {
    p.c_type = ElementType::fp32;
    p.alpha = 1.0f;
    p.beta = 0.0f;
    p.addend_apart = false;
    p.ldc = round_up(p.m, 4);
    p.c_stride = count_elements("the product", {p.ldc, p.n});
    p.c_aligned = p.c_padded = true;
  }
  return p;
}

// Has steps work on that buffer in place of an operand, which may have had a table.
void redirect(std::span<Step> steps, Operand from, Operand table, Operand to) {
  const auto redirect_one = [&](Operand& operand) {
    operand = operand == from ? to : operand == table && to != from ? operand_none : operand;
  };
  for (Step& step : steps) {
    for (StepArgument& argument : step.arguments) {
      if (Operand* const operand = std::get_if<Operand>(&argument)) {
        redirect_one(*operand);
      } else if (StructArgument* const values = std::get_if<StructArgument>(&argument)) {
        for (StructArgument::Offset& offset : values->offsets) {
          redirect_one(offset.operand);
        }
      }
    }
  }
}

// Has the plan's steps take the factors that it was made with, and not those of the call.
void fix_factors(Plan& plan) {
  for (Step& step : plan.steps) {
    for (StepArgument& argument : step.arguments) {
      if (StructArgument* const values = std::get_if<StructArgument>(&argument)) {
        for (const auto& [at, scalar] : values->factors) {
          const float factor = scalar == ScalarOf::alpha ? plan.scalars.alpha : plan.scalars.beta;
          std::memcpy(values->values.data() + at, &factor, sizeof factor);
        }
        values->factors.clear();
      }
    }
  }
}

// The plan of what comes before, and the step that makes C of its result where the problem needs it.
Plan finished(Plan plan, const Problem& before, const Problem& problem, const DeviceInfo& device) {
  if (!problem.finishes()) {
    return plan;
  }
  StepMatrix result = matrix_d(problem);
  if (problem.keeps_sum()) {
    if (problem.no_workspace) {
      throw Error(Status::out_of_memory,
                  "there is no memory for a product whose factors are in device memory or whose result has "
                  "elements of 16 bits");
    }
    result = add_workspace(plan, count_elements("the product", {problem.batch, before.c_stride}),
                           {0, before.ldc, before.c_stride});
    redirect(plan.steps, operand_c, table_c, result.operand);
    fix_factors(plan);
    plan.scalars = {problem.alpha, problem.beta};
  }
  add_finish(plan, finish_program(device), problem, result,
             problem.keeps_sum() ? Factors::of_call : Factors::of_sums, device);
  return plan;
}

// Where an operand begins, for steps that are to read it from that many elements further on.
void move_operand(std::span<Step> steps, Operand moved, std::int64_t by) {
  for (Step& step : steps) {
    for (StepArgument& argument : step.arguments) {
      if (StructArgument* const values = std::get_if<StructArgument>(&argument)) {
        for (const auto& [at, operand] : values->offsets) {
          if (operand == moved) {
            std::int64_t offset;
            std::memcpy(&offset, values->values.data() + at, sizeof offset);
            offset += by;
            std::memcpy(values->values.data() + at, &offset, sizeof offset);
          }
        }
      }
    }
  }
}

// A product for each split of k, which is added to the sum of those before it. The sum is kept in D if that
// is all there is to D, and in a workspace otherwise.
Plan lower_in_turn(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) {
  if (schedule.splits > most_in_turn) {
    throw Error(Status::unsupported, "k is " + std::to_string(problem.k) + "; it must be at most " +
                                         std::to_string(most_in_turn * everywhere_split) + " at the level " +
                                         to_text(problem.level) + ", except where a GPU splits it");
  }
  const bool in_d = problem.sums_in_c();
  if (!in_d && problem.no_workspace) {
    throw Error(Status::out_of_memory, "there is no memory for the sums of a product of more than " +
                                           std::to_string(everywhere_split) + " k at the level " +
                                           to_text(problem.level) + ", except with alpha 1 and beta 0");
  }
  Schedule one = schedule;
  one.splits = 1;
  one.in_turn = false;
  Problem part = turn_of(problem);
  Plan plan;
  Operand sums = operand_c;
  for (std::int64_t from = 0; from < problem.k; from += everywhere_split) {
    part.k = std::min(everywhere_split, problem.k - from);
    part.beta = from == 0 ? 0.0f : 1.0f;
    Plan added = lower(one, part, device);
    move_operand(added.steps, operand_a, from * (problem.a_op == Transpose::no ? problem.lda : 1));
    move_operand(added.steps, operand_b, from * (problem.b_op == Transpose::no ? 1 : problem.ldb));
    // All parts but the last have the same workspaces, and that has smaller ones.
    if (from == 0) {
      plan = {.steps = {}, .multiply = added.multiply, .workspace_bytes = added.workspace_bytes};
      if (!in_d) {
        sums = add_workspace(plan, count_elements("the sums", {problem.batch, part.c_stride}), {}).operand;
      }
    }
    redirect(added.steps, operand_c, table_c, sums);
    fix_factors(added);
    std::ranges::move(added.steps, std::back_inserter(plan.steps));
  }
  if (!in_d) {
    add_finish(plan, finish_program(device), problem, {sums, operand_none, {0, part.ldc, part.c_stride}},
               Factors::of_call, device);
  }
  plan.scalars = {problem.alpha, problem.beta};
  return plan;
}

// Copies operands of 16-bit elements to FP32 in front of the rest, and packs those of them that are to be.
Plan lower_widened(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) {
  if (problem.no_workspace) {
    throw Error(Status::out_of_memory, "there is no memory for operands of 16-bit elements in FP32");
  }
  const bool narrow_a = is_narrow(problem.a_type), narrow_b = is_narrow(problem.b_type);
  const bool pack_a = narrow_a && schedule.pack_a, pack_b = narrow_b && schedule.pack_b;
  Problem wide = packed(widened(problem), pack_a, pack_b);
  wide.a_type = wide.b_type = ElementType::fp32;
  Schedule rest = schedule;
  rest.pack_a = schedule.pack_a && !pack_a;
  rest.pack_b = schedule.pack_b && !pack_b;
  Plan plan = lower(rest, wide, device);
  std::vector<Step> steps = std::exchange(plan.steps, {});
  std::vector<OperandCopy> copies;
  const auto copy = [&](ElementType type, const StepMatrix& from, const StepMatrix& to, bool transposed,
                        std::int64_t rows, std::int64_t cols, std::int64_t members) {
    const StepMatrix copied = add_workspace_for_copies(plan, "an operand in FP32", to.layout, cols, members);
    copies.push_back({from, type, copied, transposed, rows, cols, copies_of(to.layout, members)});
    redirect(steps, from.operand, from.table, copied.operand);
  };
  if (narrow_a) {
    copy(problem.a_type, matrix_a(problem), matrix_a(wide), problem.a_op != wide.a_op, wide.a_rows(),
         wide.a_cols(), problem.members_of_a());
  }
  if (narrow_b) {
    copy(problem.b_type, matrix_b(problem), matrix_b(wide), problem.b_op != wide.b_op, wide.b_rows(),
         wide.b_cols(), problem.batch);
  }
  add_copies(plan, copies, device);
  plan.multiply += plan.steps.size();
  std::ranges::move(steps, std::back_inserter(plan.steps));
  return plan;
}

// With the program that scales C where there are no products, and the schedule of those that are.
Plan plan_with(const Variant& scaling, const std::function<Schedule(const Problem&)>& choose,
               const Problem& problem, const DeviceInfo& device) {
  if (!problem.multiplies() && !problem.device_scalars) {
    return scaled(scaling, problem, device);
  }
  const Problem before = before_finish(problem);
  return finished(
      before.multiplies() ? lower(choose(widened(before)), before, device) : scaled(scaling, before, device),
      before, problem, device);
}

}  // namespace

Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) {
  if ((is_narrow(problem.a_type) || is_narrow(problem.b_type)) &&
      !schedule.kernel->spec->family->reads_narrow()) {
    return lower_widened(schedule, problem, device);
  }
  return schedule.in_turn ? lower_in_turn(schedule, problem, device)
                          : schedule.kernel->spec->family->lower(schedule, problem, device);
}

std::vector<const Variant*> programs_of(const Planner& planner) {
  std::vector<const Variant*> programs = planner.kernels();
  std::set<const Variant*> known(programs.begin(), programs.end());
  const auto add = [&](const Variant* program) {
    if (known.insert(program).second) {
      programs.push_back(program);
    }
  };
  for (std::size_t i = 0, kernels = programs.size(); i < kernels; ++i) {
    std::ranges::for_each(programs[i]->spec->family->companions(*programs[i]), add);
  }
  add(&finish_program(planner.device()));
  return programs;
}

Plan plan_sgemm(const KernelSpec& spec, const Tunables& set, const Problem& problem,
                const DeviceInfo& device) {
  return plan_with(
      problem.multiplies() ? finish_program(device) : program("finish", set),
      [&](const Problem& product) {
        return schedule_for({&spec, set}, product, device);
      },
      problem, device);
}

Plan plan_sgemm(const Problem& asked, const Planner& planner) {
  validate(asked);
  if (asked.is_empty()) {
    return {};
  }
  const Problem problem = planner.as_owed(asked);
  return plan_with(
      finish_program(planner.device()), [&](const Problem& product) { return planner.select(product); },
      problem, planner.device());
}

Plan plan_sgemm(const Problem& problem, const DeviceInfo& device) {
  return plan_sgemm(problem, planner_for(device));
}

}  // namespace duogemm
