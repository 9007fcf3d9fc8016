// The family of kernels whose work-groups multiply tiles of A and B in local memory (kernels/gemm/tiled/).
#include <algorithm>

#include "families/kernel_parts.h"
#include "families/kernel_spec.h"
#include "families/plan.h"

namespace duogemm {
namespace {

class Tiled : public Family {
 public:
  using Family::Family;
  Multiples tile(const Tunables& t) const override { return rectangular_multiples(t); }
  std::vector<const Variant*> companions(const Variant& kernel) const override {
    return splits_k() ? packs_and_reductions() : Family::companions(kernel);
  }
};

// --- Any size, any transpose, any offset -----------------------------------------------------------------

// With this leading dimension, the columns of the largest tile, 128, are just within 31 bits.
constexpr std::int64_t longest_int_ld = (std::int64_t{1} << 24) - 2;

class General : public Tiled {
 public:
  General()
      : Tiled(every({{"TRANS_A", {0, 1}}, {"TRANS_B", {0, 1}}, {"LONG_OFFSETS", {0, 1}}}), {"LONG_OFFSETS"}) {
  }
  int storage_of(const Problem& p) const override {
    return transposes(p) + 4 * int{std::max({p.lda, p.ldb, p.ldc, p.addend_ld}) > longest_int_ld};
  }
  bool stops_at_k() const override { return true; }
  // A work-group of the default tile has 256 work-items, and one of the smaller tile 64.
  std::optional<Tunables> unmeasured(const Problem&, const DeviceInfo& device,
                                     const Tunables&) const override {
    return device.max_work_group < 256 ? Tunables{{"TSM", 32}, {"TSN", 32}} : Tunables{};
  }
};

KernelSpec general() {
  KernelSpec spec{.name = "general", .path = "gemm/general.cl", .idea = "any size, any transpose"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles_in_line(m, at(t, "TSM"), n, at(t, "TSN"), at(t, "TSM") / at(t, "WPTM"),
                         at(t, "TSN") / at(t, "WPTN"));
  };
  spec.local_bytes = [](const Tunables& t) {
    const int padding = at(t, "TRANS_A") + (1 - at(t, "TRANS_B"));
    return sizeof(float) * at(t, "TSK") * (at(t, "TSM") + at(t, "TSN") + padding);
  };
  spec.rules = {multiple_of("TSM", "WPTM"), multiple_of("TSN", "WPTN"), whole_loads("TSM"),
                whole_loads("TSN")};
  spec.family = std::make_shared<General>();
  return spec;
}

// --- Tiles copied ahead of the multiplication ------------------------------------------------------------

// A and B are read as float4 where both allow it, or else value by value: one of each gains little.
std::vector<Tunables> ways_of_reading() {
  return every({{"TRANS_A", {0, 1}}, {"TRANS_B", {0, 1}}, {"V", {1, 4}}});
}
int way_of_reading(const Problem& p) { return transposes(p) + 4 * int{a_in_vectors(p) && b_in_vectors(p)}; }

// A few tiles, from those with the most reuse to those that fill a device with a small result. The registers
// of AMD's devices have room for these alone, and not for those of a loop over a whole tile
// (tests/bench/amdgcn_test.cpp). Without copies past the registers, more than two stages gain nothing.
std::vector<Tunables> tiles_of_unmeasured(bool nvidia) {
  const auto tile = [&](int m, int n, int k, int per_m, int per_n, int lanes_m) {
    return Tunables{{"TSM", m},
                    {"TSN", n},
                    {"TSK", k},
                    {"WPTM", per_m},
                    {"WPTN", per_n},
                    {"LANES_M", lanes_m},
                    {"STAGES", nvidia && k < 32 ? 3 : 2},
                    {"UNROLL_K", nvidia ? 0 : 2}};
  };
  std::vector<Tunables> tiles = {tile(128, 128, 16, 8, 8, 8), tile(64, 64, 16, 8, 4, 4),
                                 tile(64, 32, 16, 4, 4, 8), tile(32, 64, 16, 4, 4, 4),
                                 tile(32, 32, 32, 4, 4, 8)};
  if (nvidia) {
    tiles.push_back(tile(128, 64, 16, 8, 8, 8));
    tiles.push_back(tile(64, 128, 16, 8, 8, 4));
  }
  return tiles;
}

class Pipelined : public Tiled {
 public:
  Pipelined() : Tiled(ways_of_reading()) {}

  int storage_of(const Problem& p) const override {
    if (p.k > longest_int_k) {
      return -1;
    }
    return way_of_reading(p);
  }

  // Where an operand does not fill a tile, work-items beyond its last vector copy that one too. If all
  // work-groups do so with the same few values, and past the L1 cache, they wait for each other: up to 9
  // times as long on an H200 (see plan/README.md).
  bool worthwhile(const Problem& p, const Tunables& t) const override {
    constexpr std::int64_t few = 4096;
    const auto contended = [&](bool along_k, std::int64_t size, const char* tile, std::int64_t stride) {
      const bool by_all = p.batch == 1 || stride == 0;
      const bool copied = !along_k || at(t, "K_MAJOR") != 0;
      return by_all && copied && size * p.k <= few && size < at(t, tile);
    };
    const bool past_l1 = at(t, "ASYNC") == 1 && at(t, "V") > 1;
    return !past_l1 || !(contended(p.a_op == Transpose::yes, p.m, "TSM", p.a_stride) ||
                         contended(p.b_op == Transpose::no, p.n, "TSN", p.b_stride));
  }
  bool splits_k() const override { return true; }
  bool gains_from_packing() const override { return true; }

  std::vector<Calibration> calculated(const KernelSpec& spec, const UnmeasuredGpu& gpu) const override {
    std::vector<Calibration> calibrations;
    for (const Tunables& tile : tiles_of_unmeasured(gpu.device.is_nvidia())) {
      for (const Storage& storage : storages()) {
        Tunables tunables = storage.fixed;
        tunables.insert(tile.begin(), tile.end());
        const Variant& kernel = variant_of(spec, resolve(spec, tunables));
        if (!unsupported_reason(kernel, gpu.device)) {
          calibrations.push_back(calibration(kernel, gpu));
        }
      }
    }
    return calibrations;
  }

 private:
  // Each k takes a work-group's multiply-adds, and in between loads from local memory, the fewer the larger
  // the block of a work-item is, and copies to it, the fewer the larger the tile is.
  static Calibration calibration(const Variant& kernel, const UnmeasuredGpu& gpu) {
    const double products = static_cast<double>(kernel.tile.m * kernel.tile.n);
    const double loads = 0.5 / at(kernel.tunables, "WPTM") + 0.5 / at(kernel.tunables, "WPTN") +
                         4.0 / static_cast<double>(kernel.tile.m) + 4.0 / static_cast<double>(kernel.tile.n);
    return gpu.calibration(kernel, 16, products * (1.0 + loads), gpu.lanes * gpu.clock);
  }
};

KernelSpec pipelined() {
  KernelSpec spec = with_stages_of_tiles(
      {.name = "pipelined", .path = "gemm/tiled/pipelined.cl", .idea = "tiles copied ahead"});
  spec.rules = {
      {"TSM to be a multiple of LANES_M * WPTM",
       [](const Tunables& t) { return at(t, "TSM") % (at(t, "LANES_M") * at(t, "WPTM")) == 0; }},
      {"TSN to be a multiple of 32 / LANES_M * WPTN",
       [](const Tunables& t) { return at(t, "TSN") % (32 / at(t, "LANES_M") * at(t, "WPTN")) == 0; }},
      {"LANE_ORDER to be 1 only with LANES_M 4, 8 or 16: with 2 it changes nothing, with 1 and 32 "
       "there is no square",
       [](const Tunables& t) {
         return at(t, "LANE_ORDER") == 0 || (at(t, "LANES_M") > 2 && at(t, "LANES_M") < 32);
       }},
      {"TSM or TSN to be a power of 2",
       [](const Tunables& t) { return at(t, "TSM") % 3 != 0 || at(t, "TSN") % 3 != 0; }},
      {"UNROLL_K to be 0 with K_MAJOR, whose loop must be unrolled",
       [](const Tunables& t) { return at(t, "K_MAJOR") == 0 || at(t, "UNROLL_K") == 0; }},
      {"at most 160 products per work-item",
       [](const Tunables& t) { return at(t, "WPTM") * at(t, "WPTN") <= 160; }}};
  spec.family = std::make_shared<Pipelined>();
  return spec;
}

// --- The same, where groups of columns have operands A of their own --------------------------------------

class Grouped : public Tiled {
 public:
  Grouped() : Tiled(ways_of_reading()) {}

  bool takes_groups() const override { return true; }
  bool runs_on(DeviceKind) const override { return true; }
  bool is_measured() const override { return false; }

  // On NVIDIA's a wide tile for groups of many columns, and a narrow one, which waits for memory alone, for
  // few: the fastest of `python/measure/grouped_settings.py` on an H200. Elsewhere one that small devices
  // have room for, too, and smaller still where a compiler for a CPU takes long.
  std::optional<Tunables> unmeasured(const Problem& p, const DeviceInfo& device,
                                     const Tunables&) const override {
    if (!p.is_grouped() || storage(p) < 0) {
      return std::nullopt;
    }
    if (!device.is_nvidia()) {
      const bool roomy = device.kind != DeviceKind::cpu && device.max_work_group >= 128;
      return roomy ? Tunables{{"TSM", 64}, {"TSN", 64}, {"WPTM", 8}, {"WPTN", 4}, {"UNROLL_K", 2}}
                   : Tunables{{"TSM", 32}, {"TSN", 32},    {"WPTM", 4},
                              {"WPTN", 4}, {"LANES_M", 8}, {"UNROLL_K", 2}};
    }
    constexpr std::int64_t few = 32;
    Tunables tile = p.n / p.groups > few
                        ? Tunables{{"TSM", 128}, {"TSN", 64},    {"TSK", 16},  {"WPTM", 8},
                                   {"WPTN", 8},  {"LANES_M", 8}, {"STAGES", 3}}
                        : Tunables{{"TSM", 128}, {"TSN", 16},     {"TSK", 32},   {"WPTM", 4},
                                   {"WPTN", 4},  {"LANES_M", 16}, {"STAGES", 2}, {"RESIDENT", 4}};
    tile.insert({{"LANE_ORDER", 1}, {"BYTES", 1}, {"FMA_ORDER", 2}});
    return tile;
  }

  std::vector<const Variant*> companions(const Variant&) const override { return {&program("group_tiles")}; }

  Plan lower(const Schedule& schedule, const Problem& p, const DeviceInfo& device) const override {
    const Variant& kernel = *schedule.kernel;
    const std::int64_t columns = columns_of_tiles(p, kernel.tile.n);
    Plan plan;
    plan.scalars = {p.alpha, p.beta};
    const Operand tiles = add_group_tiles(plan, p, kernel.tile.n, device);
    plan.multiply = plan.steps.size();
    const StepMatrix a = matrix_a(p), b = matrix_b(p), c = matrix_c(p), d = matrix_d(p);
    GroupedArguments arguments{};
    arguments.product = sizes_of(p);
    arguments.product.N = columns;
    arguments.product.a = a.layout;
    arguments.product.b = b.layout;
    arguments.product.c = c.layout;
    arguments.product.d = d.layout;
    order_tiles(arguments.product, p, kernel.tile.m);
    add_step(plan, kernel, kernel.spec->geometry(p.m, columns, kernel.tunables),
             {struct_argument(
                  arguments,
                  {{&arguments.product.a.offset, a.operand},
                   {&arguments.product.b.offset, b.operand},
                   {&arguments.product.c.offset, c.operand},
                   {&arguments.product.d.offset, d.operand},
                   {&arguments.tiles_offset, tiles}},
                  {{&arguments.product.alpha, ScalarOf::alpha}, {&arguments.product.beta, ScalarOf::beta}}),
              a.operand, b.operand, c.operand, d.operand, tiles},
             device);
    return plan;
  }

 private:
  int storage_of(const Problem& p) const override {
    return !p.is_grouped() || p.k > longest_int_k ? -1 : way_of_reading(p);
  }
};

KernelSpec grouped() {
  KernelSpec spec = pipelined();
  spec.name = "grouped";
  spec.path = "gemm/tiled/grouped.cl";
  spec.idea = "tiles of groups of columns";
  spec.family = std::make_shared<Grouped>();
  return spec;
}

}  // namespace

std::vector<KernelSpec> tiled_kernels() { return {general(), pipelined(), grouped()}; }

}  // namespace duogemm
