#include "plan/lower.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <span>

#include "families/cpu.h"
#include "families/kernel_parts.h"
#include "families/plan.h"
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

// beta C alone.
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
  if (problem.device_scalars) {
    p.alpha = 1.0f;
    p.beta = 0.0f;
    p.addend_apart = false;
    p.ldc = round_up(p.m, 4);
    p.c_stride = count_elements("the product", {p.ldc, p.n});
    p.c_aligned = p.c_padded = true;
  }
  return p;
}

// Has the plan's steps write to that buffer, with the factors that it was made with.
void redirect(Plan& plan, Operand to) {
  const auto redirected = [&](Operand operand) {
    return operand == operand_c ? to : operand == table_c && to != operand_c ? operand_none : operand;
  };
  const auto redirect_struct = [&](StructArgument& argument) {
    for (StructArgument::Offset& offset : argument.offsets) {
      offset.operand = redirected(offset.operand);
    }
    for (const auto& [at, scalar] : argument.factors) {
      const float factor = scalar == ScalarOf::alpha ? plan.scalars.alpha : plan.scalars.beta;
      std::memcpy(argument.values.data() + at, &factor, sizeof factor);
    }
    argument.factors.clear();
  };
  for (Step& step : plan.steps) {
    for (StepArgument& argument : step.arguments) {
      if (Operand* operand = std::get_if<Operand>(&argument)) {
        *operand = redirected(*operand);
      } else {
        redirect_struct(std::get<StructArgument>(argument));
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
  if (problem.device_scalars) {
    if (problem.no_workspace) {
      throw Error(Status::out_of_memory,
                  "there is no memory for a product whose factors are in device memory");
    }
    const Operand product{first_workspace + static_cast<int>(plan.workspace_bytes.size())};
    plan.workspace_bytes.push_back(sizeof(float) * static_cast<std::size_t>(count_elements(
                                                       "the product", {problem.batch, before.c_stride})));
    result = {product, operand_none, {0, before.ldc, before.c_stride}};
    redirect(plan, product);
  }
  add_finish(plan, finish_program(device), problem, result, Factors::of_sums, device);
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
                                         std::to_string(most_in_turn * everywhere_split) +
                                         " at the level everywhere, except where a GPU splits it");
  }
  const bool in_d = problem.sums_in_c();
  if (!in_d && problem.no_workspace) {
    throw Error(Status::out_of_memory, "there is no memory for the sums of a product of more than " +
                                           std::to_string(everywhere_split) +
                                           " k at the level everywhere, except with alpha 1 and beta 0");
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
        sums = {first_workspace + static_cast<int>(plan.workspace_bytes.size())};
        plan.workspace_bytes.push_back(sizeof(float) * static_cast<std::size_t>(count_elements(
                                                           "the sums", {problem.batch, part.c_stride})));
      }
    }
    redirect(added, sums);
    std::ranges::move(added.steps, std::back_inserter(plan.steps));
  }
  if (!in_d) {
    add_finish(plan, finish_program(device), problem, {sums, operand_none, {0, part.ldc, part.c_stride}},
               Factors::of_call, device);
  }
  plan.scalars = {problem.alpha, problem.beta};
  return plan;
}

}  // namespace

Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) {
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
  const Problem before = before_finish(problem);
  return finished(before.multiplies() ? lower(schedule_for({&spec, set}, before, device), before, device)
                                      : scaled(program("finish", set), before, device),
                  before, problem, device);
}

Plan plan_sgemm(const Problem& problem, const Planner& planner) {
  validate(problem);
  if (problem.is_empty()) {
    return {};
  }
  const DeviceInfo& device = planner.device();
  const Problem before = before_finish(problem);
  return finished(before.multiplies() ? lower(planner.select(before), before, device)
                                      : scaled(finish_program(device), before, device),
                  before, problem, device);
}

Plan plan_sgemm(const Problem& problem, const DeviceInfo& device) {
  return plan_sgemm(problem, planner_for(device));
}

}  // namespace duogemm
