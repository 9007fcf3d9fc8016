#include "families/tensor_kernels.h"

#include <algorithm>

#include "families/gemm_parts.h"
#include "gemm/arguments.h"
#include "problem/extent.h"

namespace duogemm {
namespace {

constexpr std::int64_t panel_rows = PANEL;
constexpr std::size_t most_local_bytes = 227 * 1024;  // as compute capability 9.0 has
constexpr std::size_t not_in_stages = 1024;           // bytes of local memory, at most

// Of a work-group's tile: `tensor` has no other than a panel's.
std::int64_t tile_rows_of_b(const Tunables& t) { return value_or(t, "TSN", PANEL); }

std::int64_t pieces(const Tunables& t) { return 2 + at(t, "BF16X6"); }

std::int64_t block_elements(const Tunables& t) { return pieces(t) * panel_rows * at(t, "TSK") / 2; }

PiecesLayout layout(const char* what, const Tunables& t, const Problem& p, std::int64_t panels,
                    std::int64_t stride) {
  PiecesLayout result{panels, ceil_div(p.k, at(t, "TSK")), p.batch, 0};
  if (p.batch_by == BatchBy::strides && stride == 0) {
    result.members = 1;
  }
  result.images = count_elements(what, {result.members, panels, result.blocks, block_elements(t)});
  return result;
}

// The precision is the storage; nothing is fixed by how operands are stored.
int tensor_storage(const Problem& p) {
  if (p.precision == Precision::fp32 || p.k > longest_int_k) {
    return -1;
  }
  return p.precision == Precision::bf16x6 ? 1 : 0;
}

Tunables tensor_fixed(int storage) {
  switch (storage) {
    case 0:
      return {{"BF16X6", 0}, {"TSK", 64}};
    case 1:
      return {{"BF16X6", 1}, {"TSK", 32}};
    default:
      return {};
  }
}

std::size_t stage_bytes(const Tunables& t) {
  return static_cast<std::size_t>(4 * block_elements(t) * (at(t, "TSM") + tile_rows_of_b(t)) / panel_rows);
}

std::size_t bytes_of_stages(const Tunables& t) {
  return stage_bytes(t) * static_cast<std::size_t>(at(t, "STAGES"));
}

Rule fitting_stages() {
  return {"stages of at most 227 KiB of local memory",
          [](const Tunables& t) { return bytes_of_stages(t) + not_in_stages <= most_local_bytes; }};
}

// What kernels that multiply pieces have in common.
KernelSpec multiplying_pieces(KernelSpec spec) {
  GemmFacts& gemm = spec.gemm.emplace();
  gemm.computes = [](const Problem& p) { return p.multiplies() && tensor_storage(p) >= 0; };
  gemm.tile = [](const Tunables& t) { return Multiples{at(t, "TSM"), tile_rows_of_b(t), at(t, "TSK")}; };
  gemm.storage = tensor_storage;
  gemm.fixed = tensor_fixed;
  gemm.reorders = [](const Tunables&) { return true; };
  gemm.splits_k = true;
  gemm.splits_operands = true;
  spec.local_bytes = [](const Tunables& t) { return bytes_of_stages(t) + not_in_stages; };
  spec.rules = {fitting_stages()};
  return spec;
}

// One work-group for each tile; lower() starts as many as the device has room for, at most.
Geometry tile_geometry(std::int64_t m, std::int64_t n, const Tunables& t, std::size_t work_items) {
  Geometry geometry{{group_count(m, at(t, "TSM")) * group_count(n, tile_rows_of_b(t)), 1, 1},
                    {work_items, 1, 1}};
  geometry.large_local_bytes = bytes_of_stages(t);
  return geometry;
}

int sub_groups(const Tunables& t) {
  constexpr int rows = 32;  // of each
  return at(t, "TSM") / rows * (at(t, "TSN") / at(t, "WARP_N"));
}

}  // namespace

std::int64_t PiecesLayout::elements() const {
  return count_elements("the pieces of an operand", {members, panels, blocks}) + images;
}

PiecesLayout pieces_of_a(const Tunables& t, const Problem& p) {
  const std::int64_t rows = std::max<std::int64_t>(at(t, "TSM"), panel_rows);
  return layout("the pieces of A", t, p, ceil_div(p.m, rows) * (rows / panel_rows), p.a_stride);
}

PiecesLayout pieces_of_b(const Tunables& t, const Problem& p) {
  return layout("the pieces of B", t, p, ceil_div(p.n, panel_rows), p.b_stride);
}

Tunables split_for(const Tunables& t) {
  return {{"BF16X6", at(t, "BF16X6")}, {"TSK", at(t, "TSK")}, {"RESIDENT", at(t, "BF16X6") ? 6 : 3}};
}

Tunables patch_for(const Problem& problem) {
  const KernelSpec& spec = find_kernel("pipelined");
  Tunables setting = fixed_tunables(spec, problem).value();
  setting.merge(Tunables{{"TSM", 128},
                         {"TSN", 128},
                         {"TSK", 16},
                         {"WPTM", 8},
                         {"WPTN", 8},
                         {"RESIDENT", 1},
                         {"BYTES", 1},
                         {"FMA_ORDER", 2},
                         {"STAGES", 3},
                         {"LANES_M", 8},
                         {"LANES_K", 8},
                         {"LANE_ORDER", 1}});
  // Vectors are transposed through registers, which is faster for squares of 2048 and 4096. Single values are
  // not: for 2047 that is slower.
  setting.emplace("TRANSPOSE_ASYNC", setting.at("V") == 1);
  setting["PATCH"] = 1;
  return resolve(spec, setting);
}

SlicesLayout slices_layout(const Tunables& t, const Problem& p, std::int64_t slices) {
  if (slices == 1) {
    return {0, 0};
  }
  constexpr std::int64_t line = 32;  // of counters
  const std::int64_t tiles = count_elements(
      "the tiles of C", {ceil_div(p.m, at(t, "TSM")), ceil_div(p.n, tile_rows_of_b(t)), p.batch});
  const std::int64_t counters = round_up(tiles, line);
  return {counters, counters + count_elements("the partial sums of C",
                                              {tiles, slices, at(t, "TSM") * tile_rows_of_b(t)})};
}

KernelSpec split() {
  KernelSpec spec{
      .name = "split", .path = "gemm/tensor/split.cl", .idea = "operands in pieces for tensor cores"};
  // For rows x cols of one operand.
  spec.geometry = [](std::int64_t rows, std::int64_t cols, const Tunables& t) {
    constexpr std::int64_t values = 16;  // of a work-item
    const auto work_items = static_cast<std::size_t>(panel_rows * at(t, "TSK") / values);
    return Geometry{{group_count(rows, panel_rows) * group_count(cols, at(t, "TSK")), 1, 1},
                    {work_items, 1, 1}};
  };
  spec.local_bytes = [](const Tunables& t) {
    constexpr std::size_t shared = 128;
    return static_cast<std::size_t>(4 * block_elements(t)) + shared;
  };
  spec.compute_capability = 80;
  return spec;
}

KernelSpec tensor() {
  KernelSpec spec = multiplying_pieces(
      {.name = "tensor", .path = "gemm/tensor/tensor.cl", .idea = "FP32 in pieces on tensor cores"});
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    constexpr std::size_t work_items = 384;
    return tile_geometry(m, n, t, work_items);
  };
  spec.compute_capability = 90;
  spec.newer_capabilities = false;
  return spec;
}

KernelSpec tensor_mma() {
  KernelSpec spec = multiplying_pieces({.name = "tensor_mma",
                                        .path = "gemm/tensor/tensor_mma.cl",
                                        .idea = "FP32 in pieces on tensor cores, by mma.sync"});
  spec.gemm->adds_in_clusters = false;
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    constexpr std::size_t sub_group = 32;
    return tile_geometry(m, n, t, static_cast<std::size_t>(sub_groups(t)) * sub_group);
  };
  spec.rules.push_back({"4 or 8 blocks of 32 x WARP_N in the tile",
                        [](const Tunables& t) { return sub_groups(t) == 4 || sub_groups(t) == 8; }});
  spec.compute_capability = 80;
  return spec;
}

}  // namespace duogemm
