#include "families/plan.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "families/kernel_parts.h"
#include "problem/problem.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

KernelSpec reduce() {
  KernelSpec spec{.name = "reduce", .path = "gemm/reduce.cl", .idea = "adds up the slices of a split k"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles_in_line(m * n, at(t, "GROUP") / at(t, "ITEMS"), 1, 1, at(t, "GROUP"));
  };
  spec.local_bytes = [](const Tunables& t) {
    constexpr std::size_t at_once = 8;  // AT_ONCE of the kernel
    return at(t, "ITEMS") == 1 ? 0 : sizeof(float) * at_once * static_cast<std::size_t>(at(t, "GROUP"));
  };
  return spec;
}

// The geometry is for one operand.
KernelSpec pack() {
  KernelSpec spec{.name = "pack", .path = "gemm/pack.cl", .idea = "operands as vectors"};
  spec.geometry = [](std::int64_t rows, std::int64_t cols, const Tunables& t) {
    return tiles_in_line(rows, at(t, "TILE"), cols, at(t, "TILE"), at(t, "TILE"), at(t, "LINES"));
  };
  spec.local_bytes = [](const Tunables& t) { return sizeof(float) * at(t, "TILE") * (at(t, "TILE") + 1); };
  return spec;
}

// It computes what is left of a multiplication when alpha or k is zero.
class Scaling : public Family {
 public:
  bool computes(const Problem& problem) const override { return !problem.multiplies(); }
  Multiples tile(const Tunables& t) const override { return {at(t, "GROUP") * at(t, "WPT"), 1, 1}; }
};

KernelSpec finish() {
  KernelSpec spec{
      .name = "finish", .path = "gemm/finish.cl", .idea = "beta C, bias, activation, factors in memory"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles_in_line(m * n, at(t, "GROUP") * at(t, "WPT"), 1, 1, at(t, "GROUP"));
  };
  spec.family = std::make_shared<Scaling>();
  return spec;
}

// The geometry is for that many tiles.
KernelSpec group_tiles() {
  KernelSpec spec{
      .name = "group_tiles", .path = "gemm/group_tiles.cl", .idea = "which tile has which group's columns"};
  spec.geometry = [](std::int64_t count, std::int64_t, const Tunables& t) {
    return tiles_in_line(count, at(t, "GROUP"), 1, 1, at(t, "GROUP"));
  };
  return spec;
}

std::string times(const Extent& extent) {
  return std::to_string(extent[0]) + "x" + std::to_string(extent[1]) + "x" + std::to_string(extent[2]);
}

std::string describe(const Step& step) {
  return step.kernel->spec->name + " " + to_text(step.kernel->tunables) + ", " + times(step.geometry.groups) +
         " groups of " + times(step.geometry.local);
}

// Copies operands to where they can be read in vectors: one that is stored transposed or not, and another.
// Resolved once, as reductions are: these two are part of many plans.
const Variant& pack_program(bool transposed_0, bool transposed_1) {
  static const std::array programs = {
      &program("pack", {{"TRANS_0", 0}, {"TRANS_1", 0}}), &program("pack", {{"TRANS_0", 0}, {"TRANS_1", 1}}),
      &program("pack", {{"TRANS_0", 1}, {"TRANS_1", 0}}), &program("pack", {{"TRANS_0", 1}, {"TRANS_1", 1}})};
  return *programs[2 * std::size_t{transposed_0} + std::size_t{transposed_1}];
}

// One launch for one or two copies; where there is one, the other is it again, with no work-groups.
void add_pack(Plan& plan, std::span<const OperandCopy> copies, const DeviceInfo& device) {
  const OperandCopy& one = copies.front();
  const OperandCopy& second = copies.back();
  const Variant& kernel = pack_program(one.transposed, second.transposed);
  const auto groups = [&](const OperandCopy& copy) {
    return kernel.spec->geometry(copy.to.layout.ld, copy.cols, kernel.tunables);
  };
  Geometry geometry = groups(one);
  if (copies.size() > 1) {
    geometry.groups[0] += groups(second).groups[0];
  }
  const auto operand = [](const OperandCopy& copy) {
    return PackOperand{copy.rows,      copy.cols,  copy.from.layout,
                       copy.to.layout, copy.count, static_cast<std::int64_t>(copy.type)};
  };
  const PackArguments pack{operand(one), operand(second)};
  add_step(plan, kernel, spread_over_batch(geometry, std::max(one.count, second.count), device),
           {struct_argument(pack, {{&pack.first.x.offset, one.from.operand},
                                   {&pack.first.y.offset, one.to.operand},
                                   {&pack.second.x.offset, second.from.operand},
                                   {&pack.second.y.offset, second.to.operand}}),
            one.from.operand, one.from.table, one.to.operand, second.from.operand, second.from.table,
            second.to.operand},
           device);
}

// Lowers one schedule. The multiplication's own problem is changed step by step: operands that are packed
// first have other leading dimensions then, and C is elsewhere while k is split.
class Builder {
 public:
  Builder(const Schedule& schedule, const Problem& problem, const DeviceInfo& device)
      : schedule_(schedule), kernel_(*schedule.kernel), problem_(problem), inner_(problem), device_(device) {}

  Plan plan() {
    if (schedule_.packs()) {
      pack();
    }
    const std::int64_t length =
        schedule_.splits == 1 ? problem_.k : split_length(kernel_, problem_, schedule_.splits);
    const std::int64_t splits = ceil_div(problem_.k, length);
    const bool in_workspace = splits > 1 && !schedule_.clustered;
    if (in_workspace) {
      inner_ = partial_sums(*kernel_.spec, inner_, splits);
      d_ = add_workspace(plan_, count_elements("the partial sums of C", {problem_.batch, inner_.c_stride}),
                         {0, inner_.ldc, inner_.c_stride});
    }
    plan_.multiply = plan_.steps.size();
    multiply(length, splits, in_workspace);
    if (in_workspace) {
      reduce(splits);
    }
    plan_.scalars = {problem_.alpha, problem_.beta};
    return std::move(plan_);
  }

 private:
  void pack() {
    inner_ = packed(problem_, schedule_.pack_a, schedule_.pack_b);
    std::vector<OperandCopy> copies;
    if (schedule_.pack_a) {
      copies.push_back(
          copy("the packed A", a_, problem_.a_op == Transpose::yes, problem_.m, matrix_a(inner_)));
      a_ = copies.back().to;
    }
    if (schedule_.pack_b) {
      copies.push_back(
          copy("the packed B", b_, problem_.b_op == Transpose::no, problem_.n, matrix_b(inner_)));
      b_ = copies.back().to;
    }
    add_copies(plan_, copies, device_);
  }

  OperandCopy copy(const char* what, const StepMatrix& from, bool transposed, std::int64_t rows,
                   const StepMatrix& to) {
    return {from,
            ElementType::fp32,
            add_workspace_for_copies(plan_, what, to.layout, problem_.k, problem_.batch),
            transposed,
            rows,
            problem_.k,
            copies_of(to.layout, problem_.batch)};
  }

  void multiply(std::int64_t length, std::int64_t splits, bool in_workspace) {
    const Problem& p = inner_;
    Geometry geometry = kernel_.spec->geometry(p.m, p.n, kernel_.tunables);
    geometry.groups[2] = static_cast<std::size_t>(splits);
    geometry.cluster = schedule_.clustered ? static_cast<std::size_t>(splits) : 1;
    GemmArguments sizes = sizes_of(p);
    sizes.split_length = length;
    sizes.split_stride = in_workspace ? p.ldc * p.n : 0;
    sizes.cluster = static_cast<int>(geometry.cluster);
    order_tiles(sizes, p, kernel_.tile.m);
    add(kernel_, geometry, p.batch,
        gemm_arguments(sizes, a_, b_, in_workspace ? d_ : c_, d_,
                       in_workspace ? Factors::of_sums : Factors::of_call));
  }

  void reduce(std::int64_t splits) {
    const Problem& p = problem_;
    const Variant& kernel = reduce_program(p.m * p.n * p.batch, splits);
    ReduceArguments sizes{};
    sizes.M = p.m;
    sizes.N = p.n;
    sizes.splits = splits;
    sizes.ldp = inner_.ldc;
    sizes.batch = p.batch;
    const StepMatrix d = matrix_d(p);
    sizes.c = c_.layout;
    sizes.d = d.layout;
    add(kernel, kernel.spec->geometry(p.m, p.n, kernel.tunables), p.batch,
        {struct_argument(
             sizes,
             {{&sizes.p_offset, d_.operand}, {&sizes.c.offset, c_.operand}, {&sizes.d.offset, d.operand}},
             {{&sizes.alpha, ScalarOf::alpha}, {&sizes.beta, ScalarOf::beta}}),
         d_.operand, c_.operand, d.operand});
  }

  void add(const Variant& kernel, const Geometry& geometry, std::int64_t batch,
           std::vector<StepArgument> arguments) {
    add_step(plan_, kernel, spread_over_batch(geometry, batch, device_), std::move(arguments), device_);
  }

  const Schedule& schedule_;
  const Variant& kernel_;
  const Problem& problem_;
  Problem inner_;
  const DeviceInfo& device_;
  StepMatrix a_ = matrix_a(problem_);
  StepMatrix b_ = matrix_b(problem_);
  StepMatrix c_ = matrix_c(problem_);
  StepMatrix d_ = matrix_d(problem_);
  Plan plan_;
};

}  // namespace

std::vector<KernelSpec> supporting_kernels() { return {reduce(), pack(), finish(), group_tiles()}; }

const Variant& program(std::string_view kernel, const Tunables& set) {
  const KernelSpec& spec = find_kernel(kernel);
  return variant_of(spec, resolve(spec, set));
}

std::int64_t pack_tile() {
  static const int tile = at(pack_program(false, false).tunables, "TILE");
  return tile;
}

// Several work-items share an element where there are few of them.
const Variant& reduce_program(std::int64_t elements, std::int64_t splits) {
  static const std::array programs = {&program("reduce", {{"ITEMS", 1}}), &program("reduce", {{"ITEMS", 8}}),
                                      &program("reduce", {{"ITEMS", 32}})};
  constexpr std::int64_t few_elements = 1 << 16;
  if (elements > few_elements || splits < 16) {
    return *programs[0];
  }
  return *programs[splits < 128 ? 1 : 2];
}

std::vector<const Variant*> packs_and_reductions() {
  std::vector<const Variant*> programs;
  for (const std::int64_t splits : {2, 16, 128}) {
    programs.push_back(&reduce_program(1, splits));
  }
  for (const int transposes : {0, 1, 2, 3}) {
    programs.push_back(&pack_program(transposes / 2 == 1, transposes % 2 == 1));
  }
  return programs;
}

const Variant& finish_program(const DeviceInfo& device) {
  static const Variant& of_cpus = program("finish", {{"GROUP", 1}, {"WPT", 8192}});
  static const Variant& of_gpus = program("finish");
  return device.kind == DeviceKind::cpu ? of_cpus : of_gpus;
}

std::size_t count_alike(const Plan& plan, std::size_t first) {
  const Step& step = plan.steps[first];
  const auto differs = [&](const Step& other) {
    return other.kernel != step.kernel || other.geometry.groups != step.geometry.groups ||
           other.geometry.local != step.geometry.local;
  };
  const auto begin = plan.steps.begin() + static_cast<std::ptrdiff_t>(first);
  return static_cast<std::size_t>(std::find_if(begin, plan.steps.end(), differs) - begin);
}

std::string describe(const Plan& plan) {
  std::string text;
  for (std::size_t i = 0, same = 0; i < plan.steps.size(); i += same) {
    same = count_alike(plan, i);
    text += (text.empty() ? "" : "; ") + describe(plan.steps[i]) +
            (same > 1 ? ", " + std::to_string(same) + " times" : "");
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

namespace {

// All groups of a grouped product have one B, C and D, where a batch's members have a stride.
std::int64_t stride_of_members(const Problem& p, std::int64_t stride) { return p.is_grouped() ? 0 : stride; }

}  // namespace

StepMatrix matrix_b(const Problem& p) {
  return {operand_b, table_b, {0, p.ldb, stride_of_members(p, p.b_stride)}};
}

StepMatrix matrix_c(const Problem& p) {
  return p.addend_apart ? StepMatrix{operand_addend,
                                     operand_none,
                                     {0, p.addend_ld, stride_of_members(p, p.addend_stride)}}
                        : matrix_d(p);
}

StepMatrix matrix_d(const Problem& p) {
  return {operand_c, table_c, {0, p.ldc, stride_of_members(p, p.c_stride)}};
}

std::int64_t columns_of_tiles(const Problem& problem, std::int64_t width) {
  return problem.is_grouped() ? (problem.n / width + problem.groups) * width : problem.n;
}

Operand add_group_tiles(Plan& plan, const Problem& p, std::int64_t width, const DeviceInfo& device) {
  if (!p.is_grouped()) {
    return operand_none;
  }
  if (p.no_workspace) {
    throw Error(Status::out_of_memory, "there is no memory for the tiles of a grouped product");
  }
  const std::int64_t count = columns_of_tiles(p, width) / width;
  const Operand tiles =
      add_workspace(plan, count * static_cast<std::int64_t>(sizeof(GroupTile) / sizeof(float)), {}).operand;
  GroupTilesArguments arguments{};
  arguments.groups = static_cast<int>(p.groups);
  arguments.columns = static_cast<int>(p.n);
  arguments.width = static_cast<int>(width);
  arguments.tiles = static_cast<int>(count);
  const Variant& kernel = program("group_tiles");
  add_step(
      plan, kernel, kernel.spec->geometry(count, 1, kernel.tunables),
      {struct_argument(arguments, {{&arguments.ends_offset, operand_ends}, {&arguments.tiles_offset, tiles}}),
       operand_ends, tiles},
      device);
  return tiles;
}

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
    argument.factors.push_back({offsetof(GemmArguments, alpha), ScalarOf::alpha});
    argument.factors.push_back({offsetof(GemmArguments, beta), ScalarOf::beta});
  }
  return {std::move(argument), a.operand, a.table,   b.operand, b.table,
          c.operand,           c.table,   d.operand, d.table};
}

void order_tiles(GemmArguments& sizes, const Problem& problem, std::int64_t tile_m) {
  // That many tiles along M come before the next along N: of the settings that were measured, with 1 to 32 on
  // a device of compute capability 9.0, most were fastest with 8. It is no more than there are: a kernel
  // multiplies it by the tiles along N, in 32 bits, which all tiles fit in.
  sizes.group_m = static_cast<int>(std::min<std::int64_t>(8, ceil_div(problem.m, tile_m)));
  sizes.vectors = c_in_vectors(problem) ? 1 : 0;
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

// Two operands with different numbers of matrices take two launches: else most work-groups of the shorter one
// would have none to copy.
void add_copies(Plan& plan, const std::vector<OperandCopy>& copies, const DeviceInfo& device) {
  if (copies.size() == 2 && copies[0].count == copies[1].count) {
    add_pack(plan, copies, device);
    return;
  }
  for (const OperandCopy& copy : copies) {
    add_pack(plan, {&copy, 1}, device);
  }
}

StepMatrix add_workspace(Plan& plan, std::int64_t elements, const MatrixLayout& layout) {
  const Operand operand{first_workspace + static_cast<int>(plan.workspace_bytes.size())};
  plan.workspace_bytes.push_back(sizeof(float) * static_cast<std::size_t>(elements));
  return {operand, operand_none, layout};
}

std::int64_t copies_of(const MatrixLayout& layout, std::int64_t batch) {
  return layout.stride == 0 ? 1 : batch;
}

StepMatrix add_workspace_for_copies(Plan& plan, const char* what, const MatrixLayout& layout,
                                    std::int64_t cols, std::int64_t batch) {
  return add_workspace(plan, count_elements(what, {copies_of(layout, batch), layout.ld, cols}), layout);
}

Plan Family::lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) const {
  return Builder(schedule, problem, device).plan();
}

}  // namespace duogemm
