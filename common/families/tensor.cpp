// The family of kernels that multiply the split terms of operands on tensor cores (kernels/gemm/tensor/).
#include "families/tensor.h"

#include <algorithm>
#include <set>

#include "families/calibration.h"
#include "families/plan.h"
#include "families/registry.h"
#include "families/storage.h"
#include "families/supporting.h"
#include "problem/extent.h"

namespace duogemm {
namespace {

constexpr std::int64_t panel_rows = PANEL;
constexpr std::size_t most_local_bytes = 227 * 1024;  // as compute capability 9.0 has
constexpr std::size_t not_in_stages = 1024;           // bytes of local memory, at most

// A work-group's tile of `tensor` has a panel of B, and no other size.
std::int64_t tile_rows_of_b(const Tunables& t) { return value_or(t, "TSN", PANEL); }

std::int64_t term_count(const Tunables& t) { return 2 + at(t, "BF16X6"); }

std::int64_t block_elements(const Tunables& t) { return term_count(t) * panel_rows * at(t, "TSK") / 2; }

OperandTerms layout(const char* what, const Tunables& t, const Problem& p, std::int64_t panels,
                    std::int64_t stride) {
  OperandTerms result{panels, ceil_div(p.k, at(t, "TSK")), p.batch, 0};
  if (p.batch_by == BatchBy::strides && stride == 0) {
    result.members = 1;
  }
  result.size = count_elements(what, {result.members, panels, result.blocks, block_elements(t)});
  return result;
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

// Those that compute what split terms cannot hold, for each way in which operands may be stored.
const std::vector<const Variant*>& all_fixups() {
  static const auto& fixups = *new auto([] {
    std::set<const Variant*> all;
    for (int i = 0; i < 16; ++i) {
      Problem problem = Problem::packed(128, 128, 128);
      problem.a_op = i % 2 == 0 ? Transpose::no : Transpose::yes;
      problem.b_op = i / 2 % 2 == 0 ? Transpose::no : Transpose::yes;
      problem.a_aligned = i / 4 % 2 == 0;
      problem.b_aligned = i / 8 == 0;
      all.insert(&fixup_program(problem));
    }
    return std::vector(all.begin(), all.end());
  }());
  return fixups;
}

class Tensor : public Family {
 public:
  // The precision is the storage; nothing is fixed by how operands are stored.
  Tensor() : Family({{{"BF16X6", 0}, {"TSK", 64}}, {{"BF16X6", 1}, {"TSK", 32}}}) {}
  int storage(const Problem& p) const override {
    if (p.precision == Precision::fp32 || p.k > longest_int_k) {
      return -1;
    }
    return p.precision == Precision::bf16x6 ? 1 : 0;
  }
  bool multiplies_in(Precision precision) const override { return precision != Precision::fp32; }
  // A user says by the precision which it is, or by the tunables where there is no problem.
  bool decides(std::string_view) const override { return false; }
  Multiples tile(const Tunables& t) const override { return {at(t, "TSM"), tile_rows_of_b(t), at(t, "TSK")}; }
  bool reorders(const Tunables&) const override { return true; }
  bool splits_k() const override { return true; }

  Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) const override {
    return lower_on_tensor_cores(schedule, problem, device);
  }
  std::vector<const Variant*> companions(const Variant& kernel) const override {
    std::vector<const Variant*> programs = all_fixups();
    programs.push_back(&split_program(kernel.tunables));
    return programs;
  }
};

KernelSpec multiplying_terms(KernelSpec spec) {
  spec.local_bytes = [](const Tunables& t) { return bytes_of_stages(t) + not_in_stages; };
  spec.rules = {fitting_stages()};
  return spec;
}

// One work-group for each tile; lower() starts as many as the device has room for, at most.
Geometry tile_geometry(std::int64_t m, std::int64_t n, const Tunables& t, std::size_t work_items) {
  Geometry geometry{{group_count(m, at(t, "TSM")) * group_count(n, tile_rows_of_b(t)), 1, 1},
                    {work_items, 1, 1}};
  geometry.dynamic_local_bytes = bytes_of_stages(t);
  return geometry;
}

int sub_groups(const Tunables& t) {
  constexpr int rows = 32;  // of each
  return at(t, "TSM") / rows * (at(t, "TSN") / at(t, "WARP_N"));
}

// Multiply-adds of FP16 or BF16 that tensor cores of a compute unit add up in FP32 in one cycle: NVIDIA's for
// data centres do twice what the others of their time do.
double tensor_lanes(int compute_capability) {
  const bool for_data_centres =
      compute_capability == 80 || compute_capability == 90 || compute_capability / 10 == 10;
  return for_data_centres ? 1024.0 : 512.0;
}

class TensorMma : public Tensor {
 public:
  bool adds_in_clusters() const override { return false; }

  std::vector<Calibration> calculated(const KernelSpec& spec, const UnmeasuredGpu& gpu) const override {
    constexpr double reached = 0.65;  // of what tensor cores can do
    const double rate = reached * tensor_lanes(gpu.device.compute_capability) * gpu.clock;
    std::vector<Calibration> calibrations;
    for (const Storage& storage : storages()) {
      const bool in_f16 = at(storage.fixed, "BF16X6") == 0;
      // One tile that fills a unit by itself, and a smaller one that does so in pairs or threes: FP16 takes
      // more registers.
      for (const auto& [columns, most_resident] : {std::pair(128, 1), {64, in_f16 ? 2 : 3}}) {
        const auto tile = fitting_tile(spec, storage, columns, most_resident, gpu.device);
        if (tile && !unsupported_reason(spec, *tile, gpu.device)) {
          const Variant& kernel = variant_of(spec, *tile);
          const double products = in_f16 ? 3.0 : 6.0;
          calibrations.push_back(gpu.calibration(
              kernel, 4, products * static_cast<double>(kernel.tile.m * kernel.tile.n), rate));
        }
      }
    }
    return calibrations;
  }

 private:
  // A setting with as many stages as there is room for; of fewer work-groups on a unit where there is none
  // for that many.
  static std::optional<Tunables> fitting_tile(const KernelSpec& spec, const Storage& storage, int columns,
                                              int most_resident, const DeviceInfo& device) {
    for (int resident = most_resident; resident > 0; --resident) {
      for (const int stages : {4, 3, 2}) {
        Tunables tile = {
            {"TSM", 128}, {"TSN", columns}, {"WARP_N", 64}, {"STAGES", stages}, {"RESIDENT", resident}};
        tile.insert(storage.fixed.begin(), storage.fixed.end());
        const auto all = static_cast<std::size_t>(resident);
        if (keeps_rules(spec, tile) && all * spec.local_bytes(tile) <= device.dynamic_local_bytes) {
          return tile;
        }
      }
    }
    return std::nullopt;
  }
};

}  // namespace

std::int64_t OperandTerms::elements() const {
  return count_elements("the terms of an operand", {members, panels, blocks}) + size;
}

OperandTerms terms_of_a(const Tunables& t, const Problem& p) {
  const std::int64_t rows = std::max<std::int64_t>(at(t, "TSM"), panel_rows);
  return layout("the terms of A", t, p, ceil_div(p.m, rows) * (rows / panel_rows), p.a_stride);
}

OperandTerms terms_of_b(const Tunables& t, const Problem& p) {
  return layout("the terms of B", t, p, ceil_div(p.n, panel_rows), p.b_stride);
}

const Variant& split_program(const Tunables& t) {
  return program("split",
                 {{"BF16X6", at(t, "BF16X6")}, {"TSK", at(t, "TSK")}, {"RESIDENT", at(t, "BF16X6") ? 6 : 3}});
}

const Variant& fixup_program(const Problem& problem) {
  Tunables setting = fixed_tunables(find_kernel("pipelined"), problem).value();
  // Vectors are transposed through registers, which is faster for squares of 2048 and 4096. Single values are
  // not: for 2047 that is slower.
  setting.emplace("TRANSPOSE_ASYNC", setting.at("V") == 1);
  return program("fixup", setting);
}

SplitsLayout splits_layout(const Tunables& t, const Problem& p, std::int64_t splits) {
  if (splits == 1) {
    return {0, 0};
  }
  constexpr std::int64_t line = 32;  // of counters
  const std::int64_t tiles = count_elements(
      "the tiles of C", {ceil_div(p.m, at(t, "TSM")), ceil_div(p.n, tile_rows_of_b(t)), p.batch});
  const std::int64_t counters = round_up(tiles, line);
  return {counters, counters + count_elements("the partial sums of C",
                                              {tiles, splits, at(t, "TSM") * tile_rows_of_b(t)})};
}

namespace {

KernelSpec split() {
  KernelSpec spec{.name = "split", .path = "gemm/tensor/split.cl", .idea = "split terms for tensor cores"};
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
  return spec;
}

KernelSpec fixup() {
  KernelSpec spec{.name = "fixup", .path = "gemm/tensor/fixup.cl", .idea = "what terms cannot hold, in FP32"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    const int rows = at(t, "TSM"), columns = at(t, "TSN");
    const auto work_items = static_cast<std::size_t>(rows / at(t, "WPTM") * (columns / at(t, "WPTN")));
    return Geometry{{group_count(m, rows) * group_count(n, columns), 1, 1}, {work_items, 1, 1}};
  };
  spec.local_bytes = [](const Tunables& t) {
    return sizeof(float) *
           static_cast<std::size_t>(at(t, "STAGES") * at(t, "TSK") * (at(t, "TSM") + at(t, "TSN")));
  };
  return spec;
}

KernelSpec tensor() {
  KernelSpec spec = multiplying_terms(
      {.name = "tensor", .path = "gemm/tensor/tensor.cl", .idea = "FP32 in split terms on tensor cores"});
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    constexpr std::size_t work_items = 384;
    return tile_geometry(m, n, t, work_items);
  };
  spec.family = std::make_shared<Tensor>();
  return spec;
}

KernelSpec tensor_mma() {
  KernelSpec spec = multiplying_terms({.name = "tensor_mma",
                                       .path = "gemm/tensor/tensor_mma.cl",
                                       .idea = "FP32 in split terms on tensor cores, by mma.sync"});
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    constexpr std::size_t sub_group = 32;
    return tile_geometry(m, n, t, static_cast<std::size_t>(sub_groups(t)) * sub_group);
  };
  spec.rules.push_back({"4 or 8 blocks of 32 x WARP_N in the tile",
                        [](const Tunables& t) { return sub_groups(t) == 4 || sub_groups(t) == 8; }});
  spec.family = std::make_shared<TensorMma>();
  return spec;
}

}  // namespace

std::vector<const KernelSpec*> tensor_kernels_for(const DeviceInfo& device) {
  std::vector<const KernelSpec*> kernels;
  for (const KernelSpec& spec : registry()) {
    if (spec.family && !spec.family->multiplies_in(Precision::fp32) &&
        !unsupported_reason(spec, resolve(spec, {}), device)) {
      kernels.push_back(&spec);
    }
  }
  return kernels;
}

std::vector<KernelSpec> tensor_kernels() { return {split(), tensor(), tensor_mma(), fixup()}; }

}  // namespace duogemm
