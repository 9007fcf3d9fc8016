// A schedule says how one multiplication is carried out: `select` answers it, and `lower` makes a plan of it,
// the ordered list of kernel launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "families/kernel_spec.h"
#include "gemm/arguments.h"
#include "problem/problem.h"

namespace duogemm {

// The most work-groups that every device with clusters can have in one ("Thread Block Clusters" of CUDA's
// guide).
inline constexpr std::int64_t most_in_cluster = 8;

// More splits of k are not launched one after the other.
inline constexpr std::int64_t most_in_turn = std::int64_t{1} << 14;

struct Schedule {
  const Variant* kernel = nullptr;     // that multiplies
  std::int64_t splits = 1;             // of k
  bool clustered = false;              // clusters of work-groups add the splits up, and not a further step
  bool in_turn = false;                // each split is launched for itself, and adds to those before it
  bool pack_a = false;                 // A is first copied to where it can be read in vectors along m
  bool pack_b = false;                 // B is, along n
  std::optional<double> seconds = {};  // as the cost model predicts, where it was asked

  bool packs() const { return pack_a || pack_b; }
};

// "pipelined TSM=128 ... after packing A in 4 slices of k"
std::string to_text(const Schedule& schedule);

// A schedule as somebody asks for it: `tunables` are some of those that the problem leaves open.
struct ScheduleRequest {
  const KernelSpec* spec = nullptr;
  Tunables tunables = {};
  std::int64_t splits = 1;
  bool clustered = false;
  bool pack_a = false;
  bool pack_b = false;
};

// Reads "pipelined:TSM=64,TSN=64,slices=2,pack_a=1,pack_b=1,clustered=1". Throws invalid_argument; whether
// the kernel can have such tunables depends on the problem, and schedule_for() tells.
ScheduleRequest parse_schedule(const std::string& text);

// Throws invalid_argument where no problem can be done so. Whatever reads a request asks this.
void validate(const ScheduleRequest& request);

// The request for a problem, with the tunables that the problem fixes. Throws invalid_argument where the
// kernel cannot do the problem, or not with k split, or the tunables break its rules or the problem's level,
// and unsupported where the device cannot run it. A request without splits does those in turn that the level
// asks for.
Schedule schedule_for(const ScheduleRequest& request, const Problem& problem, const DeviceInfo& device);

// The kernel must be able to split k at once, and the problem must allow it: where bits may not depend on the
// size, into the splits that are owed, and not those of terms.
bool may_split(const KernelSpec& spec, const Problem& problem);

// Operands are packed for kernels that gain from it, and not for batches by lists.
bool may_pack(const KernelSpec& spec, const Problem& problem);

// The problem as it is when these operands have been packed.
Problem packed(const Problem& problem, bool pack_a, bool pack_b);

// The problem as it is when operands of 16-bit elements have been copied to FP32. It still tells their types.
Problem widened(const Problem& problem);

// The problem whose result goes to a workspace, where the partial sums of C that are to be added up lie
// one after the other, those of one member of the batch together.
Problem partial_sums(const KernelSpec& spec, const Problem& problem, std::int64_t splits);

// A split that is launched for itself, of which all but the last have as much of k. What the splits add up to
// is kept in C if that is all there is to C, and in a workspace otherwise.
Problem turn_of(const Problem& problem);

// Each of `splits` splits but the last takes that much of k.
std::int64_t split_length(const Variant& kernel, const Problem& problem, std::int64_t splits);

// A buffer that a step works on: the caller's, or a workspace of the plan.
struct Operand {
  int slot;
  bool operator==(const Operand&) const = default;
};
inline constexpr Operand operand_a{0};
inline constexpr Operand operand_b{1};
inline constexpr Operand operand_c{2};
// The tables of a batch that is not strided: 64-bit offsets or addresses.
inline constexpr Operand table_a{3};
inline constexpr Operand table_b{4};
inline constexpr Operand table_c{5};
inline constexpr Operand operand_addend{6};
inline constexpr Operand operand_bias{7};
// alpha and beta in device memory.
inline constexpr Operand operand_alpha{8};
inline constexpr Operand operand_beta{9};
// The terms of an operand that was prepared, in the caller's memory.
inline constexpr Operand operand_prepared_a{10};
inline constexpr Operand operand_prepared_b{11};
// The ends of the groups of a grouped product, of 32 bits.
inline constexpr Operand operand_ends{12};
inline constexpr Operand operand_none{13};  // always null
inline constexpr int first_workspace = 14;

// A factor of the call. A plan serves all calls that differ in these alone, as long as the same are zero.
enum class ScalarOf { alpha, beta };

struct Scalars {
  float alpha = 1.0f;
  float beta = 0.0f;
};

// A kernel's struct (kernels/gemm/arguments.h) as planned, and which of its members the call gives.
struct StructArgument {
  // Where the operand begins in its buffer is added to what was planned.
  struct Offset {
    std::size_t at;  // byte of the struct
    Operand operand;
  };
  // It takes the place of what was planned.
  struct Factor {
    std::size_t at;
    ScalarOf scalar;
  };
  std::vector<std::byte> values;
  std::vector<Offset> offsets = {};
  std::vector<Factor> factors = {};

  // The struct, as planned.
  template <typename Struct>
  Struct as() const {
    Struct result;
    std::memcpy(&result, values.data(), sizeof result);
    return result;
  }
};

// No kernel's struct is larger.
inline constexpr std::size_t most_struct_bytes = sizeof(FixupArguments);

// `offsets` and `factors` name members of `values`.
template <typename Struct>
StructArgument struct_argument(const Struct& values,
                               std::initializer_list<std::pair<const void*, Operand>> offsets,
                               std::initializer_list<std::pair<const float*, ScalarOf>> factors = {}) {
  static_assert(sizeof values <= most_struct_bytes, "a launch has no room for the struct");
  const auto* const begin = reinterpret_cast<const std::byte*>(&values);
  const auto position = [&](const void* member) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(member) - begin);
  };
  StructArgument result{.values = {begin, begin + sizeof values}};
  for (const auto& [offset, operand] : offsets) {
    result.offsets.push_back({position(offset), operand});
  }
  for (const auto& [factor, scalar] : factors) {
    result.factors.push_back({position(factor), scalar});
  }
  return result;
}

using StepArgument = std::variant<std::int32_t, float, Operand, ScalarOf, StructArgument>;

struct Step {
  const Variant* kernel;
  Geometry geometry;
  std::vector<StepArgument> arguments;
};

struct Plan {
  std::vector<Step> steps;
  std::size_t multiply = 0;                  // which of the steps multiplies
  std::vector<std::size_t> workspace_bytes;  // workspace i is slot first_workspace + i
  Scalars scalars = {};                      // of the problem that was planned
};

// How many steps, this one and those right after it, launch the same kernel in the same way.
std::size_t count_alike(const Plan& plan, std::size_t first);

// Tells people what a plan does: each step's kernel, its tunables and its launch in the form "general
// TSM=64, 16x1x1 groups of 16x16x1", with "; " between steps and the bytes of workspace after the last.
std::string describe(const Plan& plan);

// A workspace begins at a multiple of it, in bytes.
std::size_t workspace_alignment(const DeviceInfo& device);

// The workspaces of a plan are parts of one block of memory.
struct WorkspaceLayout {
  struct Part {
    std::size_t begin;
    std::size_t bytes;
  };
  std::vector<Part> parts;
  std::size_t bytes = 0;  // of the whole
};
WorkspaceLayout lay_out_workspaces(const Plan& plan, const DeviceInfo& device);

// A matrix of a step: in which buffer, which table lists the members of a batch, and how it is laid out from
// where the call says that it begins.
struct StepMatrix {
  Operand operand;
  Operand table;
  MatrixLayout layout;
};
StepMatrix matrix_a(const Problem& problem);
StepMatrix matrix_b(const Problem& problem);
// C, which beta is a factor of, and D, which is written: the same unless the problem's addend is apart.
StepMatrix matrix_c(const Problem& problem);
StepMatrix matrix_d(const Problem& problem);

// How many columns the tiles of D have in all, of which each is that wide. Those of a grouped product, where
// a tile has columns of one group, are more than D has.
std::int64_t columns_of_tiles(const Problem& problem, std::int64_t width);

// Adds the step that finds the tiles of a grouped product, and answers where it puts them; operand_none for
// another product. Throws out_of_memory where there may be no workspace.
Operand add_group_tiles(Plan& plan, const Problem& problem, std::int64_t width, const DeviceInfo& device);

// The sizes of a product.
GemmArguments sizes_of(const Problem& problem);

// The arguments of a kernel that multiplies: the sizes, with what is for some kernels only, and the matrices.
// The factors are those of the call, or 1 and 0 for sums that another step completes.
enum class Factors { of_call, of_sums };
std::vector<StepArgument> gemm_arguments(GemmArguments sizes, const StepMatrix& a, const StepMatrix& b,
                                         const StepMatrix& c, const StepMatrix& d, Factors factors);
// Only kernels with tiles of D are given this, for tiles of that many rows.
void order_tiles(GemmArguments& sizes, const Problem& problem, std::int64_t tile_m);

// A work-group for each member of the batch. Where the device allows fewer, each walks over as many members
// as the others, or one fewer.
Geometry spread_over_batch(Geometry geometry, std::int64_t batch, const DeviceInfo& device);

// Adds a step; throws unsupported when the device cannot run it.
void add_step(Plan& plan, const Variant& kernel, const Geometry& geometry,
              std::vector<StepArgument> arguments, const DeviceInfo& device);

// Copies an operand, stored in elements of that type, or its transpose: into `rows` rows and `cols` columns
// of FP32, for each of `count` members.
struct OperandCopy {
  StepMatrix from;
  ElementType type;
  StepMatrix to;
  bool transposed;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t count;
};
// Adds the steps that make one or two copies.
void add_copies(Plan& plan, const std::vector<OperandCopy>& copies, const DeviceInfo& device);

// A workspace of that many elements.
StepMatrix add_workspace(Plan& plan, std::int64_t elements, const MatrixLayout& layout);

// How many copies of an operand there are, laid out so: one for each member of the batch, or one that all
// share. And a workspace for them, of `cols` columns each.
std::int64_t copies_of(const MatrixLayout& layout, std::int64_t batch);
StepMatrix add_workspace_for_copies(Plan& plan, const char* what, const MatrixLayout& layout,
                                    std::int64_t cols, std::int64_t batch);

// A kernel that no problem's storage fixes anything of, with these tunables. Throws as resolve() does.
const Variant& program(std::string_view kernel, const Tunables& set = {});

// Rows and columns of an operand are copied in multiples of this.
std::int64_t pack_tile();

// Adds up that many splits of k for that many elements.
const Variant& reduce_program(std::int64_t elements, std::int64_t splits);

// All of both kinds.
std::vector<const Variant*> packs_and_reductions();

// Makes of C what a problem asks beyond the sum; of a problem without products, beta C.
const Variant& finish_program(const DeviceInfo& device);

}  // namespace duogemm
