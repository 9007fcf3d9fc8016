// Every kernel, with what the host must know about it. The tunables' names are those of the kernel files.
#include <algorithm>

#include "kernel_spec.h"

namespace duogemm {
namespace {

int at(const Tunables& tunables, std::string_view name) { return tunables.find(name)->second; }

std::size_t ceil_div(std::int64_t value, std::int64_t divisor) {
  return static_cast<std::size_t>((value + divisor - 1) / divisor);
}

// One work-group of x * y work-items for every tile_x by tile_y elements of the output.
Geometry tiles(std::int64_t rows, std::int64_t tile_x, std::int64_t cols, std::int64_t tile_y, int x, int y) {
  return {{ceil_div(rows, tile_x), ceil_div(cols, tile_y), 1},
          {static_cast<std::size_t>(x), static_cast<std::size_t>(y), 1}};
}

Rule multiple_of(std::string value, std::string divisor) {
  const std::string reason = value + " to be a multiple of " + divisor;
  return {reason, [value, divisor](const Tunables& t) { return at(t, value) % at(t, divisor) == 0; }};
}

// --- Rungs 1 to 4: square tiles of TS x TS ---------------------------------------------------------------

Multiples square_multiples(const Tunables& t) { return {at(t, "TS"), at(t, "TS"), at(t, "TS")}; }

std::size_t square_local_bytes(const Tunables& t) { return 2 * sizeof(float) * at(t, "TS") * at(t, "TS"); }

// A square tile whose work-items compute `rows` x `cols` elements each; the names are tunables, or empty for
// one.
KernelSpec square_tile(KernelSpec spec, std::string rows, std::string cols) {
  const auto count = [](const Tunables& t, const std::string& name) {
    return name.empty() ? 1 : at(t, name);
  };
  spec.multiples = square_multiples;
  spec.local_bytes = square_local_bytes;
  spec.geometry = [=](std::int64_t m, std::int64_t n, const Tunables& t) {
    const int ts = at(t, "TS");
    return tiles(m, ts, n, ts, ts / count(t, rows), ts / count(t, cols));
  };
  for (const std::string& name : {rows, cols}) {
    if (!name.empty()) {
      spec.rules.push_back(multiple_of("TS", name));
    }
  }
  return spec;
}

KernelSpec naive() {
  KernelSpec spec{
      .name = "naive", .path = "ladder/01_naive.cl", .idea = "one work-item per element", .rung = "1"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    const int ts = at(t, "TS");
    return tiles(m, ts, n, ts, ts, ts);
  };
  return spec;
}

// --- Rungs 5 to 10: tiles of TSM x TSN x TSK, B transposed -----------------------------------------------

Multiples rectangular_multiples(const Tunables& t) { return {at(t, "TSM"), at(t, "TSN"), at(t, "TSK")}; }

// Rows of C per work-item: rung 5 has one.
int rows_per_item(const Tunables& t) { return t.contains("WPTM") ? at(t, "WPTM") : 1; }

int rectangular_work_items(const Tunables& t) {
  return at(t, "TSM") / rows_per_item(t) * (at(t, "TSN") / at(t, "WPTN"));
}

Rule whole_loads(const char* tile) {
  return {std::string("TSK * ") + tile + " to be a multiple of WIDTH times the work-group",
          [tile](const Tunables& t) {
            const int width = t.contains("WIDTH") ? at(t, "WIDTH") : 1;
            return at(t, "TSK") * at(t, tile) % (width * rectangular_work_items(t)) == 0;
          }};
}

KernelSpec rectangular_tile(KernelSpec spec) {
  spec.transposed_b = true;
  spec.multiples = rectangular_multiples;
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    const int tsm = at(t, "TSM");
    const int tsn = at(t, "TSN");
    return tiles(m, tsm, n, tsn, tsm / rows_per_item(t), tsn / at(t, "WPTN"));
  };
  spec.rules.insert(spec.rules.begin(), multiple_of("TSN", "WPTN"));
  spec.rules.push_back(whole_loads("TSM"));
  spec.rules.push_back(whole_loads("TSN"));
  return spec;
}

// With a padded tile of B, as rungs 5 and 6 have it.
KernelSpec padded_tile(KernelSpec spec) {
  spec.local_bytes = [](const Tunables& t) {
    return sizeof(float) * (at(t, "TSK") * at(t, "TSM") + at(t, "TSN") * (at(t, "TSK") + at(t, "PAD")));
  };
  return rectangular_tile(std::move(spec));
}

// With vectors of WIDTH and `buffers` tiles in local memory, as rungs 7 to 10 have it.
KernelSpec wide_tile(KernelSpec spec, int buffers) {
  spec.local_bytes = [buffers](const Tunables& t) {
    return sizeof(float) * buffers * at(t, "TSK") * (at(t, "TSM") + at(t, "TSN"));
  };
  spec.rules = {multiple_of("TSM", "WPTM"), multiple_of("WPTM", "WIDTH"), multiple_of("WPTN", "WIDTH")};
  return rectangular_tile(std::move(spec));
}

// The work-items that share a value of B must be neighbours within one sub-group, and enough to hold its
// fragment.
KernelSpec with_shuffle(KernelSpec spec) {
  spec.sub_group_multiple = [](const Tunables& t) {
    return at(t, "USE_SHUFFLE") ? at(t, "TSM") / at(t, "WPTM") : 1;
  };
  spec.rules.push_back({"TSM / WPTM to be at least WPTN with USE_SHUFFLE=1", [](const Tunables& t) {
                          return !at(t, "USE_SHUFFLE") || at(t, "TSM") / at(t, "WPTM") >= at(t, "WPTN");
                        }});
  return spec;
}

KernelSpec register_2d() {
  KernelSpec spec{
      .name = "register_2d", .path = "ladder/06_register_2d.cl", .idea = "2D register blocking", .rung = "6"};
  spec.rules = {multiple_of("TSM", "WPTM")};
  return padded_tile(std::move(spec));
}

KernelSpec incomplete() {
  KernelSpec spec{.name = "incomplete",
                  .path = "ladder/10_incomplete.cl",
                  .idea = "incomplete tiles, any size",
                  .rung = "10",
                  .stores_any_size = true};
  spec.variants = {{{"TSM", 160}, {"TSN", 160}, {"WPTM", 10}, {"WPTN", 10}, {"WIDTH", 2}}};
  return with_shuffle(wide_tile(std::move(spec), 2));
}

KernelSpec registers_only() {
  KernelSpec spec{.name = "registers_only",
                  .path = "ladder/11_registers_only.cl",
                  .idea = "no local memory, caches only",
                  .rung = "11",
                  .transposed_b = true};
  spec.multiples = [](const Tunables& t) { return Multiples{8 * at(t, "WGM"), 4 * at(t, "WGN"), 1}; };
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles(m, 8 * at(t, "WGM"), n, 4 * at(t, "WGN"), at(t, "WGM"), at(t, "WGN"));
  };
  return spec;
}

// --- For comparison, and in support ----------------------------------------------------------------------

// A kernel whose work-items each handle one element, in groups of BLOCK x BLOCK.
KernelSpec block(KernelSpec spec) {
  spec.geometry = [](std::int64_t rows, std::int64_t cols, const Tunables& t) {
    const int size = at(t, "BLOCK");
    return tiles(rows, size, cols, size, size, size);
  };
  return spec;
}

std::size_t transpose_local_bytes(const Tunables& t) {
  return sizeof(float) * at(t, "BLOCK") * (at(t, "BLOCK") + 1);
}

KernelSpec bandwidth() {
  KernelSpec spec{.name = "bandwidth", .path = "support/bandwidth.cl", .idea = "reads"};
  spec.geometry = [](std::int64_t rows, std::int64_t, const Tunables& t) {
    return tiles(rows, at(t, "GROUP"), 1, 1, at(t, "GROUP"), 1);
  };
  return spec;
}

KernelSpec matrixmul() {
  KernelSpec spec{.name = "matrixmul",
                  .path = "ladder/matrixmul.cl",
                  .idea = "NVIDIA's sample, row-major",
                  .rung = "nv",
                  .row_major = true};
  spec.multiples = [](const Tunables& t) {
    return Multiples{at(t, "BLOCK"), at(t, "BLOCK"), at(t, "BLOCK")};
  };
  spec.local_bytes = [](const Tunables& t) { return 2 * sizeof(float) * at(t, "BLOCK") * at(t, "BLOCK"); };
  return block(std::move(spec));
}

KernelSpec transpose() {
  KernelSpec spec{.name = "transpose", .path = "support/transpose.cl", .idea = "transpose"};
  spec.local_bytes = transpose_local_bytes;
  spec.multiples = [](const Tunables& t) { return Multiples{at(t, "BLOCK"), at(t, "BLOCK"), 1}; };
  return block(std::move(spec));
}

KernelSpec pad_transpose() {
  KernelSpec spec{.name = "pad_transpose", .path = "support/pad_transpose.cl", .idea = "pad and transpose"};
  spec.local_bytes = transpose_local_bytes;
  return block(std::move(spec));
}

KernelSpec peak() {
  KernelSpec spec{.name = "peak", .path = "support/peak.cl", .idea = "multiply-adds in registers"};
  spec.geometry = [](std::int64_t rows, std::int64_t, const Tunables& t) {
    return tiles(rows, at(t, "GROUP"), 1, 1, at(t, "GROUP"), 1);
  };
  return spec;
}

// --- Production ------------------------------------------------------------------------------------------

// Work-groups in one dimension: its limit is the highest that devices have.
KernelSpec general() {
  KernelSpec spec{.name = "general", .path = "gemm/general.cl", .idea = "any size, any transpose"};
  spec.computes = [](const Problem& problem) { return problem.multiplies(); };
  spec.tile = rectangular_multiples;
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    const std::size_t groups = ceil_div(m, at(t, "TSM")) * ceil_div(n, at(t, "TSN"));
    return Geometry{{groups, 1, 1},
                    {static_cast<std::size_t>(at(t, "TSM") / at(t, "WPTM")),
                     static_cast<std::size_t>(at(t, "TSN") / at(t, "WPTN")), 1}};
  };
  spec.local_bytes = [](const Tunables& t) {
    return sizeof(float) * at(t, "TSK") * (at(t, "TSM") + at(t, "TSN") + 2);
  };
  spec.rules = {multiple_of("TSM", "WPTM"), multiple_of("TSN", "WPTN"), whole_loads("TSM"),
                whole_loads("TSN")};
  spec.dictated = [](const Problem& p) {
    return Tunables{{"TRANS_A", p.a_op == Transpose::yes},
                    {"TRANS_B", p.b_op == Transpose::yes},
                    {"BATCH", static_cast<int>(p.batch_by)}};
  };
  return spec;
}

bool quarters(std::int64_t value) { return value % 4 == 0; }

// Whether vectors of four can be read from, or written to, every column of every member of a batch.
bool in_vectors(bool aligned, std::int64_t ld, std::int64_t stride, const Problem& problem) {
  return aligned && problem.batch_by == BatchBy::strides && quarters(ld) &&
         (problem.batch == 1 || quarters(stride));
}

// What the file says beside VA, VB and VC.
std::optional<Tunables> pipelined_dictated(const Problem& p) {
  constexpr std::int64_t longest = std::int64_t{1} << 30;
  if (p.k >= longest) {
    return std::nullopt;
  }
  const bool trans_a = p.a_op == Transpose::yes;
  const bool trans_b = p.b_op == Transpose::yes;
  const bool va = in_vectors(p.a_aligned, p.lda, p.a_stride, p) && (trans_a || p.a_padded || quarters(p.m));
  const bool vb = in_vectors(p.b_aligned, p.ldb, p.b_stride, p) && (!trans_b || p.b_padded || quarters(p.n));
  const bool vc = in_vectors(p.c_aligned, p.ldc, p.c_stride, p) && quarters(p.m);
  return Tunables{{"TRANS_A", trans_a}, {"TRANS_B", trans_b}, {"VA", va ? 4 : 1},
                  {"VB", vb ? 4 : 1},   {"VC", vc ? 4 : 1},   {"BATCH", static_cast<int>(p.batch_by)}};
}

int pipelined_work_items(const Tunables& t) {
  return at(t, "TSM") / at(t, "WPTM") * (at(t, "TSN") / at(t, "WPTN"));
}

// Whether a work-group's copies of an operand come out even (see tiles.h).
Rule whole_copies(const char* tile, const char* vector, const char* transposed, int turned) {
  return {std::string("the work-group to copy whole rows of ") + tile, [=](const Tunables& t) {
            const int items = pipelined_work_items(t);
            const bool turns = at(t, transposed) == turned;
            // Two work-items, of four rows each, share a column that they turn.
            const int across = turns ? at(t, tile) : at(t, tile) / at(t, vector);
            const int abreast = std::min(across, turns ? items / 2 : items);
            const int rows = turns ? items / 2 / abreast * 8 : items / abreast;
            return across % abreast == 0 && items % abreast == 0 && at(t, "TSK") % rows == 0;
          }};
}

KernelSpec pipelined() {
  KernelSpec spec{
      .name = "pipelined", .path = "gemm/pipelined.cl", .idea = "tiles copied ahead", .splits_k = true};
  spec.dictated = pipelined_dictated;
  spec.computes = [](const Problem& p) { return p.multiplies() && pipelined_dictated(p); };
  spec.tile = rectangular_multiples;
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return Geometry{{ceil_div(m, at(t, "TSM")) * ceil_div(n, at(t, "TSN")), 1, 1},
                    {static_cast<std::size_t>(pipelined_work_items(t)), 1, 1}};
  };
  spec.local_bytes = [](const Tunables& t) {
    return sizeof(float) * at(t, "STAGES") * at(t, "TSK") * (at(t, "TSM") + at(t, "TSN"));
  };
  const auto block = [](const char* reason, const char* tile, const char* per_item, auto lanes) {
    return Rule{reason, [=](const Tunables& t) { return at(t, tile) % (lanes(t) * at(t, per_item)) == 0; }};
  };
  spec.rules = {block("TSM to be a multiple of LANES_M * WPTM", "TSM", "WPTM",
                      [](const Tunables& t) { return at(t, "LANES_M"); }),
                block("TSN to be a multiple of 32 / LANES_M * WPTN", "TSN", "WPTN",
                      [](const Tunables& t) { return 32 / at(t, "LANES_M"); }),
                whole_copies("TSM", "VA", "TRANS_A", 1),
                whole_copies("TSN", "VB", "TRANS_B", 0),
                {"at most 160 products per work-item",
                 [](const Tunables& t) { return at(t, "WPTM") * at(t, "WPTN") <= 160; }}};
  return spec;
}

KernelSpec reduce() {
  KernelSpec spec{.name = "reduce", .path = "gemm/reduce.cl", .idea = "adds the parts of a split k"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles(m * n, at(t, "GROUP"), 1, 1, at(t, "GROUP"), 1);
  };
  return spec;
}

KernelSpec repack() {
  KernelSpec spec{.name = "repack", .path = "gemm/repack.cl", .idea = "operands as vectors"};
  spec.geometry = [](std::int64_t rows, std::int64_t cols, const Tunables& t) {
    const int tile = at(t, "TILE");
    return Geometry{{ceil_div(rows, tile) * ceil_div(cols, tile), 1, 1},
                    {static_cast<std::size_t>(tile), static_cast<std::size_t>(at(t, "LINES")), 1}};
  };
  spec.local_bytes = [](const Tunables& t) { return sizeof(float) * at(t, "TILE") * (at(t, "TILE") + 1); };
  return spec;
}

KernelSpec scale() {
  KernelSpec spec{.name = "scale", .path = "gemm/scale.cl", .idea = "beta C"};
  spec.computes = [](const Problem& problem) { return !problem.multiplies(); };
  spec.tile = [](const Tunables& t) { return Multiples{at(t, "GROUP"), 1, 1}; };
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles(m * n, at(t, "GROUP"), 1, 1, at(t, "GROUP"), 1);
  };
  return spec;
}

std::vector<KernelSpec> make_registry() {
  KernelSpec wide{.name = "wide", .path = "ladder/04_wide.cl", .idea = "wider data types", .rung = "4"};
  wide.variants = {{{"WIDTH", 8}}};
  return {
      naive(),
      square_tile(
          {.name = "tiled", .path = "ladder/02_tiled.cl", .idea = "tiles in local memory", .rung = "2"}, "",
          ""),
      square_tile(
          {.name = "strip", .path = "ladder/03_strip.cl", .idea = "a strip per work-item", .rung = "3"}, "",
          "WPT"),
      square_tile(std::move(wide), "WIDTH", ""),
      padded_tile({.name = "transposed",
                   .path = "ladder/05_transposed.cl",
                   .idea = "transposed B, rectangular tiles",
                   .rung = "5"}),
      register_2d(),
      wide_tile({.name = "register_wide",
                 .path = "ladder/07_register_wide.cl",
                 .idea = "wide loads, register blocking",
                 .rung = "7"},
                1),
      with_shuffle(wide_tile(
          {.name = "sm35", .path = "ladder/08_sm35.cl", .idea = "read-only loads, shuffles", .rung = "8"},
          1)),
      with_shuffle(wide_tile({.name = "double_buffer",
                              .path = "ladder/09_double_buffer.cl",
                              .idea = "prefetch, two buffers",
                              .rung = "9"},
                             2)),
      incomplete(),
      registers_only(),
      matrixmul(),
      bandwidth(),
      block({.name = "pad", .path = "support/pad.cl", .idea = "pad"}),
      block({.name = "unpad", .path = "support/unpad.cl", .idea = "remove padding"}),
      transpose(),
      pad_transpose(),
      peak(),
      general(),
      pipelined(),
      reduce(),
      repack(),
      scale(),
  };
}

}  // namespace

std::span<const KernelSpec> registry() {
  static const std::vector<KernelSpec> kernels = make_registry();
  return kernels;
}

}  // namespace duogemm
