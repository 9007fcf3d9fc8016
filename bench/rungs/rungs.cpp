// Each kernel with what the host must know about it. The tunables' names are those of the kernel files.
#include "rungs/rungs.h"

#include <algorithm>

#include "families/kernel_parts.h"

namespace duogemm {
namespace {

// A work-item for each element, in square groups as large as the tunable says.
auto squares(const char* size) {
  return [size](std::int64_t rows, std::int64_t cols, const Tunables& t) {
    return tiles(rows, at(t, size), cols, at(t, size), at(t, size), at(t, size));
  };
}

// A work-group for each tile of what M and N are multiples of; from the tunables, its work-items in M and in
// N.
Rung tiled(Rung spec, std::function<std::pair<int, int>(const Tunables&)> work_items) {
  spec.geometry = [multiples = spec.multiples, work_items](std::int64_t m, std::int64_t n,
                                                           const Tunables& t) {
    const auto [x, y] = work_items(t);
    return tiles(m, multiples(t).m, n, multiples(t).n, x, y);
  };
  return spec;
}

// With `stages` tiles of A and of B in local memory.
Rung staged(Rung spec, std::function<int(const Tunables&)> stages) {
  spec.multiples = rectangular_multiples;
  spec.local_bytes = [stages](const Tunables& t) {
    return sizeof(float) * stages(t) * at(t, "TSK") * (at(t, "TSM") + at(t, "TSN"));
  };
  return spec;
}

int one(const Tunables&) { return 1; }
int two(const Tunables&) { return 2; }
int its_stages(const Tunables& t) { return at(t, "STAGES"); }

// --- Rungs 2 to 4: two square tiles in local memory ------------------------------------------------------

Rung square_tile(Rung spec, const char* size) {
  spec.multiples = [size](const Tunables& t) { return Multiples{at(t, size), at(t, size), at(t, size)}; };
  spec.local_bytes = [size](const Tunables& t) { return 2 * sizeof(float) * at(t, size) * at(t, size); };
  spec.geometry = squares(size);
  return spec;
}

// A work-item computes WPT elements of a row.
Rung strip() {
  Rung spec = square_tile({{"strip", "ladder/03_strip.cl", "a strip per work-item"}, "3"}, "TS");
  spec.rules = {multiple_of("TS", "WPT")};
  return tiled(std::move(spec),
               [](const Tunables& t) { return std::pair(at(t, "TS"), at(t, "TS") / at(t, "WPT")); });
}

Rung wide() {
  Rung spec = square_tile({{"wide", "ladder/04_wide.cl", "wider data types"}, "4"}, "TS");
  spec.variants = {{{"WIDTH", 8}}};
  spec.rules = {multiple_of("TS", "WIDTH")};
  return tiled(std::move(spec),
               [](const Tunables& t) { return std::pair(at(t, "TS") / at(t, "WIDTH"), at(t, "TS")); });
}

Rung matrixmul() {
  Rung spec =
      square_tile({{"matrixmul", "ladder/matrixmul.cl", "NVIDIA's sample, row-major"}, "nv"}, "BLOCK");
  spec.row_major = true;
  return spec;
}

// --- Rungs 5 to 10: tiles of TSM x TSN x TSK, B transposed -----------------------------------------------

Rung rectangular_tile(Rung spec) {
  spec.transposed_b = true;
  spec.multiples = rectangular_multiples;
  spec.rules.insert(spec.rules.begin(), multiple_of("TSN", "WPTN"));
  spec.rules.push_back(whole_loads("TSM"));
  spec.rules.push_back(whole_loads("TSN"));
  return tiled(std::move(spec), [](const Tunables& t) {
    return std::pair(at(t, "TSM") / rows_per_item(t), at(t, "TSN") / at(t, "WPTN"));
  });
}

// With a padded tile of B, as rungs 5 and 6 have it.
Rung padded_tile(Rung spec) {
  spec.local_bytes = [](const Tunables& t) {
    return sizeof(float) * (at(t, "TSK") * at(t, "TSM") + at(t, "TSN") * (at(t, "TSK") + at(t, "PAD")));
  };
  return rectangular_tile(std::move(spec));
}

Rung register_2d() {
  Rung spec{{"register_2d", "ladder/06_register_2d.cl", "2D register blocking"}, "6"};
  spec.rules = {multiple_of("TSM", "WPTM")};
  return padded_tile(std::move(spec));
}

// With vectors of WIDTH and `buffers` tiles in local memory, as rungs 7 to 10 have it.
Rung wide_tile(Rung spec, std::function<int(const Tunables&)> buffers) {
  spec.rules = {multiple_of("TSM", "WPTM"), multiple_of("WPTM", "WIDTH"), multiple_of("WPTN", "WIDTH")};
  return rectangular_tile(staged(std::move(spec), std::move(buffers)));
}

// The work-items that share a value of B must be neighbours within one sub-group, and enough to hold its
// fragment.
Rung with_shuffle(Rung spec) {
  spec.sub_group_multiple = [](const Tunables& t) {
    return at(t, "USE_SHUFFLE") ? at(t, "TSM") / at(t, "WPTM") : 1;
  };
  spec.rules.push_back({"TSM / WPTM to be at least WPTN with USE_SHUFFLE=1", [](const Tunables& t) {
                          return !at(t, "USE_SHUFFLE") || at(t, "TSM") / at(t, "WPTM") >= at(t, "WPTN");
                        }});
  return spec;
}

Rung incomplete() {
  Rung spec{{"incomplete", "ladder/10_incomplete.cl", "incomplete tiles, any size"}, "10"};
  spec.stores_any_size = true;
  spec.variants = {{{"TSM", 160}, {"TSN", 160}, {"WPTM", 10}, {"WPTN", 10}, {"WIDTH", 2}}};
  return with_shuffle(wide_tile(std::move(spec), two));
}

Rung registers_only() {
  Rung spec{{"registers_only", "ladder/beyond/11_registers_only.cl", "no local memory, caches only"}, "11"};
  spec.transposed_b = true;
  spec.multiples = [](const Tunables& t) { return Multiples{8 * at(t, "WGM"), 4 * at(t, "WGN"), 1}; };
  return tiled(std::move(spec), [](const Tunables& t) { return std::pair(at(t, "WGM"), at(t, "WGN")); });
}

// --- Rungs 12 to 15: tiles of TSM x TSN x TSK in warp tiles, with `stages` of them in local memory -------

Rung warp_tile(Rung spec, std::function<int(const Tunables&)> stages) {
  spec.transposed_b = true;
  spec.rules = {{"TSM to be a multiple of LANES_M * WPTM",
                 [](const Tunables& t) { return at(t, "TSM") % (at(t, "LANES_M") * at(t, "WPTM")) == 0; }},
                {"TSN to be a multiple of 32 / LANES_M * WPTN", [](const Tunables& t) {
                   return at(t, "TSN") % (32 / at(t, "LANES_M") * at(t, "WPTN")) == 0;
                 }}};
  for (const char* tile : {"TSM", "TSN"}) {
    spec.rules.push_back({std::string("TSK * ") + tile + " to be a multiple of 4 times the work-group",
                          [=](const Tunables& t) {
                            return at(t, "TSK") * at(t, tile) % (4 * rectangular_work_items(t)) == 0;
                          }});
  }
  return tiled(staged(std::move(spec), std::move(stages)),
               [](const Tunables& t) { return std::pair(rectangular_work_items(t), 1); });
}

Rung split_k() {
  Rung spec{{"split_k", "ladder/beyond/15_split_k.cl", "split-K"}, "15"};
  spec.splits = [](const Tunables& t) { return at(t, "SLICES"); };
  spec = warp_tile(std::move(spec), its_stages);
  spec.geometry = [inner = spec.geometry](std::int64_t m, std::int64_t n, const Tunables& t) {
    Geometry geometry = inner(m, n, t);
    geometry.groups[2] = static_cast<std::size_t>(at(t, "SLICES"));
    return geometry;
  };
  return spec;
}

// --- Rungs 16 and 17: for CPUs, and for tensor cores ------------------------------------------------------

Rung packed() {
  Rung spec{{"packed", "ladder/beyond/16_packed.cl", "packed panels, vector registers"}, "16"};
  const auto rows = [](const Tunables& t) { return at(t, "VECTORS") * at(t, "WIDTH"); };
  spec.transposed_b = true;
  spec.for_cpus = true;
  spec.variants = {{{"WIDTH", 16}, {"COLS", 8}}};  // for vectors of 512 bits, of which there are 32
  spec.multiples = [rows](const Tunables& t) { return Multiples{rows(t), at(t, "TSN"), at(t, "TSK")}; };
  spec.local_bytes = [rows](const Tunables& t) {
    return sizeof(float) * (rows(t) * (at(t, "TSK") + at(t, "TSN")) + at(t, "TSK") * at(t, "COLS"));
  };
  return tiled(std::move(spec), [](const Tunables&) { return std::pair(1, 1); });
}

Rung tensor_cores() {
  Rung spec{{"tensor_cores", "ladder/beyond/17_tensor_cores.cl", "tensor cores, three BF16 terms"}, "17"};
  const auto work_items = [](const Tunables& t) {
    return at(t, "TSM") / at(t, "WARP_M") * (at(t, "TSN") / at(t, "WARP_N")) * 32;
  };
  spec.bf16_products = 6;
  spec.transposed_b = true;
  spec.multiples = rectangular_multiples;
  spec.local_bytes = [](const Tunables& t) {
    constexpr std::size_t terms = 3;
    return terms * sizeof(std::int32_t) * at(t, "TSK") / 2 * (at(t, "TSM") + at(t, "TSN") + 16);
  };
  spec.rules = {multiple_of("TSM", "WARP_M"),
                multiple_of("TSN", "WARP_N"),
                {"TSK / 2 * TSM and TSK / 2 * TSN to be multiples of the work-group", [=](const Tunables& t) {
                   return at(t, "TSK") / 2 * at(t, "TSM") % work_items(t) == 0 &&
                          at(t, "TSK") / 2 * at(t, "TSN") % work_items(t) == 0;
                 }}};
  return tiled(std::move(spec), [work_items](const Tunables& t) { return std::pair(work_items(t), 1); });
}

// --- In support ------------------------------------------------------------------------------------------

// A work-item has several elements or none, in groups of GROUP.
Geometry groups(std::int64_t rows, std::int64_t, const Tunables& t) {
  return tiles(rows, at(t, "GROUP"), 1, 1, at(t, "GROUP"), 1);
}

std::size_t transpose_local_bytes(const Tunables& t) {
  return sizeof(float) * at(t, "BLOCK") * (at(t, "BLOCK") + 1);
}

std::vector<KernelSpec> make_supports() {
  return {
      {"pad", "support/pad.cl", "pad", squares("BLOCK")},
      {"unpad", "support/unpad.cl", "remove padding", squares("BLOCK")},
      {"transpose", "support/transpose.cl", "transpose", squares("BLOCK"), transpose_local_bytes},
      {"pad_transpose", "support/pad_transpose.cl", "pad and transpose", squares("BLOCK"),
       transpose_local_bytes},
      {"bandwidth", "support/bandwidth.cl", "reads", groups},
      {"peak", "support/peak.cl", "multiply-adds in registers", groups},
  };
}

std::vector<Rung> make_rungs() {
  return {
      {{"naive", "ladder/01_naive.cl", "one work-item per element", squares("TS")}, "1"},
      square_tile({{"tiled", "ladder/02_tiled.cl", "tiles in local memory"}, "2"}, "TS"),
      strip(),
      wide(),
      padded_tile({{"transposed", "ladder/05_transposed.cl", "transposed B, rectangular tiles"}, "5"}),
      register_2d(),
      wide_tile({{"register_wide", "ladder/07_register_wide.cl", "wide loads, register blocking"}, "7"}, one),
      with_shuffle(
          wide_tile({{"ldg_shuffle", "ladder/08_ldg_shuffle.cl", "read-only loads, shuffles"}, "8"}, one)),
      with_shuffle(
          wide_tile({{"double_buffer", "ladder/09_double_buffer.cl", "prefetch, two buffers"}, "9"}, two)),
      incomplete(),
      registers_only(),
      warp_tile({{"warp_tiles", "ladder/beyond/12_warp_tiles.cl", "warp tiles"}, "12"}, one),
      warp_tile({{"async_copy", "ladder/beyond/13_async_copy.cl", "asynchronous copies in stages"}, "13"},
                its_stages),
      warp_tile({{"tile_order", "ladder/beyond/14_tile_order.cl", "order of tiles for the L2 cache"}, "14"},
                its_stages),
      split_k(),
      packed(),
      tensor_cores(),
      matrixmul(),
  };
}

}  // namespace

std::span<const Rung> rungs() {
  static const std::vector<Rung> all = [] {
    add_kernel_files(rung_files());
    return make_rungs();
  }();
  return all;
}

const Rung* as_rung(const KernelSpec& spec) {
  const auto found = std::ranges::find_if(rungs(), [&](const Rung& rung) { return &rung == &spec; });
  return found == rungs().end() ? nullptr : &*found;
}

std::string label_of(const KernelSpec& spec) {
  const Rung* rung = as_rung(spec);
  return rung ? rung->label : "";
}

const std::vector<const KernelSpec*>& all_kernels() {
  static const std::vector<KernelSpec> supports = make_supports();
  static const std::vector<const KernelSpec*> all = [] {
    std::vector<const KernelSpec*> kernels;
    const auto add = [&](const auto& some) {
      std::ranges::transform(some, std::back_inserter(kernels), [](const KernelSpec& spec) { return &spec; });
    };
    add(rungs());
    add(supports);
    add(registry());
    return kernels;
  }();
  return all;
}

const KernelSpec& any_kernel(std::string_view name) {
  for (const KernelSpec* spec : all_kernels()) {
    if (spec->name == name) {
      return *spec;
    }
  }
  return find_kernel(name);  // which says that there is none
}

}  // namespace duogemm
