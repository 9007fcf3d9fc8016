#include "plan/lower.h"

#include <algorithm>
#include <array>
#include <set>

#include "families/gemm_parts.h"
#include "families/tensor_kernels.h"
#include "plan/cpu_plan.h"
#include "plan/lower_tensor.h"
#include "problem/extent.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

const Variant& support(const char* name, const Tunables& set) {
  const KernelSpec& spec = find_kernel(name);
  return variant_of(spec, resolve(spec, set));
}

// Resolved once: these two are part of many plans.
const Variant& pack_kernel(bool transposed_0, bool transposed_1) {
  static const auto kernels = [] {
    std::array<const Variant*, 4> all{};
    for (int i = 0; i < 4; ++i) {
      all[static_cast<std::size_t>(i)] = &support("pack", {{"TRANS_0", i / 2}, {"TRANS_1", i % 2}});
    }
    return all;
  }();
  return *kernels[2 * std::size_t{transposed_0} + std::size_t{transposed_1}];
}

// Where there are few elements, several work-items share one.
const Variant& reduce_kernel(std::int64_t elements, std::int64_t slices) {
  static const std::array kernels = {&support("reduce", {{"ITEMS", 1}}), &support("reduce", {{"ITEMS", 8}}),
                                     &support("reduce", {{"ITEMS", 32}})};
  constexpr std::int64_t few_elements = 1 << 16;
  if (elements > few_elements || slices < 16) {
    return *kernels[0];
  }
  return *kernels[slices < 128 ? 1 : 2];
}

// Whether the kernel adds a column that is the problem's addend. Partial sums of C get it when they have been
// added up.
bool adds_bias(const Schedule& schedule, const Problem& problem) {
  return problem.addend_apart && problem.addend_ld == 0 && schedule.kernel->spec->gemm->adds_bias &&
         (schedule.slices == 1 || schedule.clustered);
}

// Lowers one schedule. The multiplication's own problem is changed step by step: operands that are packed
// first have other leading dimensions then, and C is elsewhere while k is in slices.
class Builder {
 public:
  Builder(const Schedule& schedule, const Problem& problem, const DeviceInfo& device)
      : schedule_(schedule), kernel_(*schedule.kernel), problem_(problem), inner_(problem), device_(device) {}

  Plan plan() {
    if (schedule_.packs()) {
      pack();
    }
    const std::int64_t length =
        schedule_.slices == 1 ? problem_.k : slice_length(kernel_, problem_.k, schedule_.slices);
    const std::int64_t slices = ceil_div(problem_.k, length);
    const bool in_workspace = slices > 1 && !schedule_.clustered;
    if (in_workspace) {
      inner_ = partial_sums(*kernel_.spec, inner_, slices);
      c_ = workspace(count_elements("the partial sums of C", {problem_.batch, inner_.c_stride}), table_c);
    }
    plan_.multiply = plan_.steps.size();
    multiply(length, slices, in_workspace);
    if (in_workspace) {
      reduce(slices);
    }
    plan_.scalars = {problem_.alpha, problem_.beta};
    return std::move(plan_);
  }

 private:
  // An operand that is copied into rows x k, and where to. A stride of 0 stays one: the batch shares the copy
  // as well.
  struct Copy {
    Place from;
    Place to;
    bool transposed;
    std::int64_t rows;
    std::int64_t ld;
    std::int64_t stride;
    std::int64_t new_ld;
    std::int64_t new_stride;
    std::int64_t count;
  };

  void pack() {
    inner_ = packed(problem_, schedule_.pack_a, schedule_.pack_b);
    std::vector<Copy> copies;
    if (schedule_.pack_a) {
      copies.push_back(copy("the packed A", a_, problem_.a_op == Transpose::yes, problem_.m, problem_.lda,
                            problem_.a_stride, inner_.lda, inner_.a_stride));
      a_ = copies.back().to;
    }
    if (schedule_.pack_b) {
      copies.push_back(copy("the packed B", b_, problem_.b_op == Transpose::no, problem_.n, problem_.ldb,
                            problem_.b_stride, inner_.ldb, inner_.b_stride));
      b_ = copies.back().to;
    }
    // Of different numbers of matrices, the shorter one's work-groups would mostly have none to copy.
    if (copies.size() == 2 && copies[0].count != copies[1].count) {
      add_pack({copies[0]});
      add_pack({copies[1]});
    } else {
      add_pack(copies);
    }
  }

  Copy copy(const char* what, const Place& from, bool transposed, std::int64_t rows, std::int64_t ld,
            std::int64_t stride, std::int64_t new_ld, std::int64_t new_stride) {
    const std::int64_t count = stride == 0 ? 1 : problem_.batch;
    const Place to = workspace(count_elements(what, {count, new_ld, problem_.k}), from.table);
    return {from, to, transposed, rows, ld, stride, new_ld, new_stride, count};
  }

  // One launch for one or two of them; where there is one, the other is it again, with no work-groups.
  void add_pack(const std::vector<Copy>& copies) {
    const Copy& one = copies.front();
    const Copy& other = copies.back();
    const Variant& kernel = pack_kernel(one.transposed, other.transposed);
    const auto groups = [&](const Copy& c) {
      return kernel.spec->geometry(c.new_ld, problem_.k, kernel.tunables);
    };
    Geometry geometry = groups(one);
    if (copies.size() > 1) {
      geometry.groups[0] += groups(other).groups[0];
    }
    std::vector<StepArgument> arguments = {problem_.k};
    for (const Copy& copy : {one, other}) {
      arguments.insert(arguments.end(),
                       {copy.rows, copy.from.operand, copy.from.offset, copy.ld, copy.stride, copy.to.operand,
                        copy.to.offset, copy.new_ld, copy.new_stride, copy.count});
    }
    add(kernel, geometry, std::max(one.count, other.count), std::move(arguments));
  }

  void multiply(std::int64_t length, std::int64_t slices, bool in_workspace) {
    const Problem& p = inner_;
    Geometry geometry = kernel_.spec->geometry(p.m, p.n, kernel_.tunables);
    geometry.groups[2] = static_cast<std::size_t>(slices);
    geometry.cluster = schedule_.clustered ? static_cast<std::size_t>(slices) : 1;
    std::vector<StepArgument> arguments =
        in_workspace ? product_arguments(p, a_, b_, c_, 1.0f, 0.0f) : product_arguments(p, a_, b_, c_);
    if (kernel_.spec->gemm->splits_k) {
      const auto slice = slice_arguments(length, in_workspace ? p.ldc * p.n : 0,
                                         static_cast<std::int64_t>(geometry.cluster));
      arguments.insert(arguments.end(), slice.begin(), slice.end());
    }
    if (kernel_.spec->gemm->splits_k && !kernel_.spec->gemm->skinny) {
      const auto tiles = tile_arguments(p, kernel_.tile.m);
      arguments.insert(arguments.end(), tiles.begin(), tiles.end());
    }
    if (adds_bias(schedule_, problem_)) {
      const auto bias = bias_arguments(problem_);
      arguments.insert(arguments.end(), bias.begin(), bias.end());
      add(*biased(kernel_), geometry, p.batch, std::move(arguments));
    } else {
      add(kernel_, geometry, p.batch, std::move(arguments));
    }
  }

  void reduce(std::int64_t slices) {
    const Problem& p = problem_;
    const Variant& kernel = reduce_kernel(p.m * p.n * p.batch, slices);
    add(kernel, kernel.spec->geometry(p.m, p.n, kernel.tunables), p.batch,
        {p.m, p.n, slices, c_.operand, c_.offset, inner_.ldc, ScalarOf::alpha, ScalarOf::beta, operand_c,
         OffsetOf{operand_c}, p.ldc, p.c_stride, p.batch});
  }

  void add(const Variant& kernel, const Geometry& geometry, std::int64_t batch,
           std::vector<StepArgument> arguments) {
    add_step(plan_, kernel, spread_over_batch(geometry, batch, device_), std::move(arguments), device_);
  }

  Place workspace(std::int64_t elements, Operand table) {
    const Operand operand{first_workspace + static_cast<int>(plan_.workspace_bytes.size())};
    plan_.workspace_bytes.push_back(sizeof(float) * static_cast<std::size_t>(elements));
    return {operand, OffsetOf{operand}, table};
  }

  const Schedule& schedule_;
  const Variant& kernel_;
  const Problem& problem_;
  Problem inner_;
  const DeviceInfo& device_;
  Place a_ = place_of_a;
  Place b_ = place_of_b;
  Place c_ = place_of_c;
  Plan plan_;
};

// A matrix among the arguments of `finish`.
struct Term {
  Place place;
  std::int64_t ld;
  std::int64_t stride;
};

Term addend_of(const Problem& p) {
  return p.addend_apart
             ? Term{{operand_addend, OffsetOf{operand_addend}, operand_none}, p.addend_ld, p.addend_stride}
             : Term{place_of_c, p.ldc, p.c_stride};
}

// What the problem asks beyond the sum, of a term: of one that asks nothing of the kind, a copy.
void add_finish(Plan& plan, const Problem& p, const Term& t, const DeviceInfo& device) {
  const Variant& kernel = support("finish", {});
  std::vector<StepArgument> arguments = {p.m, p.n};
  for (const Term& term : {t, addend_of(p), Term{place_of_c, p.ldc, p.c_stride}}) {
    arguments.insert(arguments.end(),
                     {term.place.operand, term.place.offset, term.ld, term.stride, term.place.table});
  }
  const Operand bias = p.bias ? operand_bias : operand_none;
  arguments.insert(arguments.end(), {1.0f, 0.0f, p.device_scalars ? operand_alpha : operand_none,
                                     p.device_scalars ? operand_beta : operand_none, bias, OffsetOf{bias},
                                     p.bias_stride, static_cast<std::int64_t>(p.activation), p.batch});
  add_step(plan, kernel, spread_over_batch(kernel.spec->geometry(p.m, p.n, kernel.tunables), p.batch, device),
           std::move(arguments), device);
}

// For a problem whose addend is elsewhere and not added by the plan's own steps: they find it in C.
void put_behind_copy(Plan& plan, const Problem& problem, const DeviceInfo& device) {
  Plan copy;
  add_finish(copy, problem, addend_of(problem), device);
  plan.multiply += copy.steps.size();
  plan.steps.insert(plan.steps.begin(), copy.steps.begin(), copy.steps.end());
}

Plan scale(const Tunables& set, const Problem& p, const DeviceInfo& device) {
  const Variant& kernel = support("scale", set);
  Plan plan;
  plan.scalars = {p.alpha, p.beta};
  add_step(plan, kernel, spread_over_batch(kernel.spec->geometry(p.m, p.n, kernel.tunables), p.batch, device),
           {p.m, p.n, ScalarOf::beta, operand_c, OffsetOf{operand_c}, p.ldc, p.c_stride, table_c, p.batch},
           device);
  if (p.addend_apart) {
    put_behind_copy(plan, p, device);
  }
  return plan;
}

// What is left of the problem for the steps before `finish`: without alpha and beta, which are not known, the
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

// Has the plan's steps write to another place than C, with the factors that it was made with, and not those
// of the call.
void redirect(Plan& plan, const Place& to) {
  const auto redirected = [&](const StepArgument& argument) -> StepArgument {
    if (const ScalarOf* scalar = std::get_if<ScalarOf>(&argument)) {
      return *scalar == ScalarOf::alpha ? plan.scalars.alpha : plan.scalars.beta;
    }
    if (const Operand* operand = std::get_if<Operand>(&argument)) {
      return *operand == operand_c ? to.operand : *operand == table_c ? to.table : *operand;
    }
    const OffsetOf* offset = std::get_if<OffsetOf>(&argument);
    return offset != nullptr && offset->operand == operand_c ? OffsetOf{to.operand, offset->further}
                                                             : argument;
  };
  for (Step& step : plan.steps) {
    std::transform(step.arguments.begin(), step.arguments.end(), step.arguments.begin(), redirected);
  }
}

// The plan of what comes before, and the step that makes C of its result.
Plan finished(Plan plan, const Problem& before, const Problem& problem, const DeviceInfo& device) {
  Term result{place_of_c, problem.ldc, problem.c_stride};
  if (problem.device_scalars) {
    if (problem.no_workspace) {
      throw Error(Status::out_of_memory,
                  "there is no memory for a product whose factors are in device memory");
    }
    const Operand product{first_workspace + static_cast<int>(plan.workspace_bytes.size())};
    plan.workspace_bytes.push_back(sizeof(float) * static_cast<std::size_t>(count_elements(
                                                       "the product", {problem.batch, before.c_stride})));
    result = {{product, OffsetOf{product}, operand_none}, before.ldc, before.c_stride};
    redirect(plan, result.place);
  }
  add_finish(plan, problem, result, device);
  return plan;
}

// The plan that `plan_before` makes of what comes before `finish`, and that step where the problem needs it.
template <typename PlanBefore>
Plan plan_with_finish(const Problem& problem, const DeviceInfo& device, const PlanBefore& plan_before) {
  const Problem before = before_finish(problem);
  Plan plan = plan_before(before);
  return problem.finishes() ? finished(std::move(plan), before, problem, device) : plan;
}

// Each way in which operands may be stored, as far as kernels care.
std::vector<Problem> problems_of_each_storage() {
  std::vector<Problem> problems;
  for (int i = 0; i < 16; ++i) {
    Problem problem = Problem::packed(128, 128, 128);
    problem.a_op = i % 2 == 0 ? Transpose::no : Transpose::yes;
    problem.b_op = i / 2 % 2 == 0 ? Transpose::no : Transpose::yes;
    problem.a_aligned = i / 4 % 2 == 0;
    problem.b_aligned = i / 8 == 0;
    problems.push_back(problem);
  }
  return problems;
}

}  // namespace

Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) {
  const GemmFacts& facts = *schedule.kernel->spec->gemm;
  Plan plan = facts.for_cpus          ? lower_on_cpu(schedule, problem, device)
              : facts.splits_operands ? lower_on_tensor_cores(schedule, problem, device)
                                      : Builder(schedule, problem, device).plan();
  if (problem.addend_apart && !adds_bias(schedule, problem)) {
    put_behind_copy(plan, problem, device);
  }
  return plan;
}

const Variant* biased(const Variant& kernel) {
  if (!kernel.spec->gemm || !kernel.spec->gemm->adds_bias || at(kernel.tunables, "PATCH") != 0) {
    return nullptr;
  }
  Tunables tunables = kernel.tunables;
  tunables["BIAS"] = 1;
  return &variant_of(*kernel.spec, tunables);
}

std::vector<const Variant*> programs_of(const Planner& planner) {
  std::vector<const Variant*> programs = planner.kernels();
  std::set<const Variant*> splitting;
  for (const Variant* kernel : programs) {
    if (kernel->spec->gemm->splits_operands) {
      splitting.insert(&support("split", split_for(kernel->tunables)));
    }
  }
  if (!splitting.empty()) {
    for (const Problem& problem : problems_of_each_storage()) {
      splitting.insert(&variant_of(find_kernel("pipelined"), patch_for(problem)));
    }
  }
  programs.insert(programs.end(), splitting.begin(), splitting.end());
  programs.push_back(&support("scale", {}));
  if (planner.device().kind != DeviceKind::cpu) {
    programs.push_back(&support("finish", {}));
    for (const std::int64_t slices : {2, 16, 128}) {
      programs.push_back(&reduce_kernel(1, slices));
    }
    for (const int transposes : {0, 1, 2, 3}) {
      programs.push_back(&pack_kernel(transposes / 2 == 1, transposes % 2 == 1));
    }
  }
  return programs;
}

Plan plan_sgemm(const KernelSpec& spec, const Tunables& set, const Problem& problem,
                const DeviceInfo& device) {
  return plan_with_finish(problem, device, [&](const Problem& before) {
    return before.multiplies() ? lower(schedule_for({&spec, set}, before, device), before, device)
                               : scale(set, before, device);
  });
}

Plan plan_sgemm(const Problem& problem, const Planner& planner) {
  validate(problem);
  if (problem.is_empty()) {
    return {};
  }
  return plan_with_finish(problem, planner.device(), [&](const Problem& before) {
    return before.multiplies() ? lower(planner.select(before), before, planner.device())
                               : scale({}, before, planner.device());
  });
}

Plan plan_sgemm(const Problem& problem, const DeviceInfo& device) {
  return plan_sgemm(problem, planner_for(device));
}

}  // namespace duogemm
