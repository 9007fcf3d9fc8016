// Each kernel with what the host must know about it. The tunables' names are those of the kernel files.
#include "rungs/rungs.h"

#include "kernels/kernel_parts.h"
#include "rungs/rung_files.h"

namespace duogemm {
namespace {

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

std::vector<KernelSpec> make_rungs() {
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
  };
}

KernelFiles files_of_rungs() {
#ifdef DUOGEMM_WITH_CUDA
  return {rung_files(), rung_fatbin};
#else
  return {rung_files()};
#endif
}

std::vector<const KernelSpec*> list_kernels() {
  static const std::vector<KernelSpec> rungs = make_rungs();
  add_kernel_files(files_of_rungs());
  std::vector<const KernelSpec*> all;
  for (const std::span<const KernelSpec> kernels : {std::span(rungs), registry()}) {
    for (const KernelSpec& spec : kernels) {
      all.push_back(&spec);
    }
  }
  return all;
}

}  // namespace

const std::vector<const KernelSpec*>& all_kernels() {
  static const std::vector<const KernelSpec*> all = list_kernels();
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
