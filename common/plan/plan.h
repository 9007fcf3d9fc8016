// A plan: the ordered list of kernel launches that carries out one multiplication.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "families/kernel_spec.h"
#include "problem/problem.h"

namespace duogemm {

// Which buffer a step works on: the caller's A, B or C or their tables, what its epilogue needs, or a
// workspace of the plan.
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
inline constexpr Operand operand_none{10};  // always null
inline constexpr int first_workspace = 11;

// Stands for where in its buffer a matrix begins, in elements, and for a place so many elements further.
struct OffsetOf {
  Operand operand;
  std::int64_t further = 0;
};

// Stands for a factor of the call. A plan serves all calls that differ in nothing but these, as long as the
// same of them are zero.
enum class ScalarOf { alpha, beta };

struct Scalars {
  float alpha = 1.0f;
  float beta = 0.0f;
};

using StepArgument = std::variant<std::int32_t, std::int64_t, float, Operand, OffsetOf, ScalarOf>;

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

// What a plan does, for people: each step's kernel, its tunables and its launch in the form "general
// TSM=64, 16x1x1 groups of 16x16x1", with "; " between steps and the bytes of workspace behind the last.
std::string describe(const Plan& plan);

// What a workspace begins at a multiple of, in bytes.
std::size_t workspace_alignment(const DeviceInfo& device);

// The workspaces of a plan as parts of one piece of memory.
struct WorkspaceLayout {
  struct Part {
    std::size_t begin;
    std::size_t bytes;
  };
  std::vector<Part> parts;
  std::size_t bytes = 0;  // of the whole
};
WorkspaceLayout lay_out_workspaces(const Plan& plan, const DeviceInfo& device);

// Where a matrix is: in which buffer, from which element on, and the table that lists the members of a batch.
struct Place {
  Operand operand;
  StepArgument offset;
  Operand table;
};
inline constexpr Place place_of_a{operand_a, OffsetOf{operand_a}, table_a};
inline constexpr Place place_of_b{operand_b, OffsetOf{operand_b}, table_b};
inline constexpr Place place_of_c{operand_c, OffsetOf{operand_c}, table_c};

// What every kernel that multiplies is given first (PRODUCT in kernels/gemm/batch.h), and behind it those
// that split k (K_SLICE), those with tiles of C behind that (TILE_ORDER), with a bias behind that (BIASED in
// kernels/gemm/tiled/bias.h), and those for CPUs (CPU_TILE).
std::vector<StepArgument> product_arguments(const Problem& problem, const Place& a, const Place& b,
                                            const Place& c, StepArgument alpha = ScalarOf::alpha,
                                            StepArgument beta = ScalarOf::beta);
std::vector<StepArgument> slice_arguments(std::int64_t k_chunk, std::int64_t chunk_stride,
                                          std::int64_t cluster);
std::vector<StepArgument> tile_arguments(const Problem& problem, std::int64_t tile_m);
std::vector<StepArgument> bias_arguments(const Problem& problem);
std::vector<StepArgument> cpu_tile_arguments(std::int64_t tile_m, std::int64_t tile_n);

// A work-group for each member of the batch. Where the device allows fewer, each walks over as many members
// as the others, or one fewer.
Geometry spread_over_batch(Geometry geometry, std::int64_t batch, const DeviceInfo& device);

// Adds a step; throws unsupported when the device cannot run it.
void add_step(Plan& plan, const Variant& kernel, const Geometry& geometry,
              std::vector<StepArgument> arguments, const DeviceInfo& device);

}  // namespace duogemm
