// The library's own kernels, with what the host must know about them.
#include "gemm_kernels.h"

#include <algorithm>
#include <numeric>

#include "gemm_parts.h"

namespace duogemm {
namespace {

// So far apart, the columns of the largest tile, 128, are just within 31 bits.
constexpr std::int64_t longest_int_ld = (std::int64_t{1} << 24) - 2;

// Work-groups in one dimension: its limit is the highest that devices have.
KernelSpec general() {
  KernelSpec spec{
      .name = "general", .path = "gemm/general.cl", .idea = "any size, any transpose", .stops_at_k = true};
  spec.computes = [](const Problem& problem) { return problem.multiplies(); };
  spec.tile = rectangular_multiples;
  const auto abreast = [](const Tunables& t) { return at(t, "TSM") / at(t, "WPTM"); };
  spec.geometry = [=](std::int64_t m, std::int64_t n, const Tunables& t) {
    const std::size_t groups = group_count(m, at(t, "TSM")) * group_count(n, at(t, "TSN"));
    return Geometry{
        {groups, 1, 1},
        {static_cast<std::size_t>(abreast(t)), static_cast<std::size_t>(at(t, "TSN") / at(t, "WPTN")), 1}};
  };
  spec.local_bytes = [](const Tunables& t) {
    const int padding = at(t, "TRANS_A") + (1 - at(t, "TRANS_B"));
    return sizeof(float) * at(t, "TSK") * (at(t, "TSM") + at(t, "TSN") + padding);
  };
  spec.written_at_once = abreast;
  spec.rules = {multiple_of("TSM", "WPTM"), multiple_of("TSN", "WPTN"), whole_loads("TSM"),
                whole_loads("TSN")};
  spec.dictated = [](const Problem& p) {
    return Tunables{{"TRANS_A", p.a_op == Transpose::yes},
                    {"TRANS_B", p.b_op == Transpose::yes},
                    {"LONG_OFFSETS", std::max({p.lda, p.ldb, p.ldc}) > longest_int_ld},
                    {"BATCH", static_cast<int>(p.batch_by)}};
  };
  spec.timed_as = [](Tunables dictated, const Tunables&) {
    return without(std::move(dictated), {"LONG_OFFSETS", "BATCH"});
  };
  return spec;
}

// How many values of A, B and C are read or written at once.
struct Widths {
  int a;
  int b;
  int c;
};

// As many as their storage allows.
Widths widths_of_storage(const Problem& p) {
  return {vector_width(p.a_aligned, p.lda, p.a_stride, p), vector_width(p.b_aligned, p.ldb, p.b_stride, p),
          vector_width(p.c_aligned, p.ldc, p.c_stride, p)};
}

// So many that vectors along m and n end with the matrix, unless there is more in memory.
Widths whole_widths(const Problem& p, const Widths& widths) {
  const auto whole = [](int width, bool padded, std::int64_t size) {
    return padded ? width : static_cast<int>(std::gcd(size, std::int64_t{width}));
  };
  return {whole(widths.a, p.a_op == Transpose::yes || p.a_padded, p.m),
          whole(widths.b, p.b_op == Transpose::no || p.b_padded, p.n), whole(widths.c, p.c_padded, p.m)};
}

// Whether vectors may end in the gap behind a column. That takes a slower last tile and a longer kernel: with
// fewer products, problems took 6 percent longer by it on an H200, and 3 percent less with more (30 of them,
// from 0.85 to 1.4 times as long).
bool may_go_beyond(const Problem& p) {
  constexpr double products = 1e8;
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) >= products;
}

// What the file says beside VA, VB and VC.
std::optional<Tunables> pipelined_dictated(const Problem& p) {
  if (p.k > longest_int_k) {
    return std::nullopt;
  }
  const bool trans_a = p.a_op == Transpose::yes;
  const bool trans_b = p.b_op == Transpose::yes;
  const Widths widest = widths_of_storage(p);
  const Widths whole = whole_widths(p, widest);
  const bool ragged = may_go_beyond(p) && (whole.a < widest.a || whole.b < widest.b);
  auto [va, vb, vc] = ragged ? widest : whole;
  // C could be written in vectors wherever its storage allows, and parts of a split C always, but is as in
  // the measurements: where neither A nor B is in vectors, C is not, unless sums are so short that writing it
  // takes most of the time (7 percent less with vectors on an H200, 56 settings); and beside vectors of 4, in
  // those or in none.
  constexpr std::int64_t short_k = 64;
  const int of_inputs = std::max(va, vb);
  const bool only_c = of_inputs == 1 && (vc != 4 || p.k > short_k);
  if (only_c || (of_inputs == 4 && vc == 2)) {
    vc = 1;
  }
  const bool shifted = (!trans_a && va == 4 && p.lda % 8 != 0) || (trans_b && vb == 4 && p.ldb % 8 != 0);
  return Tunables{{"TRANS_A", trans_a},
                  {"TRANS_B", trans_b},
                  {"VA", va},
                  {"VB", vb},
                  {"VC", vc},
                  {"SHIFTED", shifted},
                  {"RAGGED", ragged},
                  {"BATCH", static_cast<int>(p.batch_by)},
                  {"CLUSTER", p.cluster}};
}

// Measurements are of equal widths of A and B, 4 or 1: the wider of two vectors does not help much, and 2 is
// taken to be no better than 1. Tiles that are turned on the way are copied value by value whatever the
// width. With C in single values, a kernel with vectors is another one, up to 1.2 times slower on an H200.
Tunables pipelined_timed_as(Tunables dictated, const Tunables& others) {
  const auto timed = [&](const char* name) { return at(dictated, name) == 4 ? 4 : 1; };
  const bool turns_a = at(dictated, "TRANS_A") == 1;
  const bool turns_b = at(dictated, "TRANS_B") == 0;
  const bool one_counts = value_or(others, "TURN_ASYNC", 0) == 1 && turns_a != turns_b;
  const int width = !one_counts ? std::min(timed("VA"), timed("VB")) : timed(turns_a ? "VB" : "VA");
  dictated["VC"] = std::min(width, timed("VC"));
  dictated["VA"] = dictated["VB"] = width;
  return without(std::move(dictated), {"SHIFTED", "RAGGED", "BATCH", "CLUSTER"});
}

// Of an operand that does not fill a tile, work-items beyond its last vector copy that one too. Where all
// work-groups do so with the same few values, and past the L1 cache, they wait for each other: up to 3 times
// as long on an H200 (44 narrow problems).
bool pipelined_suits(const Problem& p, const Tunables& t) {
  constexpr std::int64_t few = 4096;
  const auto contended = [&](bool straight, std::int64_t size, const char* tile, std::int64_t stride) {
    const bool by_all = p.batch == 1 || stride == 0;
    const bool vectors = quarters(size) || may_go_beyond(p);
    return by_all && straight && vectors && size < at(t, tile) && size * p.k <= few;
  };
  return at(t, "ASYNC") != 1 || !(contended(p.a_op == Transpose::no, p.m, "TSM", p.a_stride) ||
                                  contended(p.b_op == Transpose::yes, p.n, "TSN", p.b_stride));
}

int pipelined_work_items(const Tunables& t) {
  return at(t, "TSM") / at(t, "WPTM") * (at(t, "TSN") / at(t, "WPTN"));
}

// How many sums a work-group of a cluster shows the others at once: all of them, if that is not too much.
int exchanged_in_cluster(const Tunables& t) {
  constexpr int most = 48 * 1024 / sizeof(float);
  const int cluster = at(t, "CLUSTER");
  if (cluster == 1) {
    return 0;
  }
  const int round = (cluster - 1) * 4 * pipelined_work_items(t);
  const int rounds = ceil_div(at(t, "WPTM") * at(t, "WPTN") / 4, cluster);
  return round * std::max(std::min(rounds, most / round), 1);
}

// How many rows of an operand's tile a work-group copies at once (see tiles.h).
int rows_at_once(const Tunables& t, int across, bool turns) {
  const auto power_of_2 = [](int x) { return x % 3 == 0 ? x / 3 * 2 : x; };
  const auto rows = [&](int most) {
    const int abreast = across <= most ? across : across % 3 == 0 ? most : power_of_2(most);
    return power_of_2(most / abreast);
  };
  const int items = pipelined_work_items(t);
  if (!turns) {
    return rows(items);
  }
  // Along a column: LANES_K with one row each, or two with four rows each.
  return at(t, "TURN_ASYNC") != 0 ? at(t, "LANES_K") * rows(items / at(t, "LANES_K")) : 8 * rows(items / 2);
}

// Whether a work-group copies no more of an operand at once than there is.
Rule whole_copies(const char* tile, const char* vector, const char* transposed, int turned) {
  return {std::string("TSK to be no less than the rows of ") + tile + " that a work-group copies at once",
          [=](const Tunables& t) {
            const bool turns = at(t, transposed) == turned;
            const int across = turns ? at(t, tile) : at(t, tile) / at(t, vector);
            return rows_at_once(t, across, turns) <= at(t, "TSK");
          }};
}

KernelSpec pipelined() {
  KernelSpec spec{.name = "pipelined",
                  .path = "gemm/pipelined.cl",
                  .idea = "tiles copied ahead",
                  .splits_k = true,
                  .repacks = true};
  spec.dictated = pipelined_dictated;
  spec.timed_as = pipelined_timed_as;
  spec.suits = pipelined_suits;
  spec.computes = [](const Problem& p) { return p.multiplies() && pipelined_dictated(p); };
  spec.tile = rectangular_multiples;
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return Geometry{{group_count(m, at(t, "TSM")) * group_count(n, at(t, "TSN")), 1, 1},
                    {static_cast<std::size_t>(pipelined_work_items(t)), 1, 1}};
  };
  spec.local_bytes = [](const Tunables& t) {
    const int stages = at(t, "STAGES") * at(t, "TSK") * (at(t, "TSM") + at(t, "TSN"));
    return sizeof(float) * static_cast<std::size_t>(std::max(stages, exchanged_in_cluster(t)));
  };
  const auto block = [](const char* reason, const char* tile, const char* per_item, auto lanes) {
    return Rule{reason, [=](const Tunables& t) { return at(t, tile) % (lanes(t) * at(t, per_item)) == 0; }};
  };
  spec.rules = {block("TSM to be a multiple of LANES_M * WPTM", "TSM", "WPTM",
                      [](const Tunables& t) { return at(t, "LANES_M"); }),
                block("TSN to be a multiple of 32 / LANES_M * WPTN", "TSN", "WPTN",
                      [](const Tunables& t) { return 32 / at(t, "LANES_M"); }),
                {"SQUARES to be 1 only with LANES_M 4, 8 or 16: with 2 it changes nothing, with 1 and 32 "
                 "there is no square",
                 [](const Tunables& t) {
                   return at(t, "SQUARES") == 0 || (at(t, "LANES_M") > 2 && at(t, "LANES_M") < 32);
                 }},
                {"TSM or TSN to be a power of 2",
                 [](const Tunables& t) { return at(t, "TSM") % 3 != 0 || at(t, "TSN") % 3 != 0; }},
                whole_copies("TSM", "VA", "TRANS_A", 1),
                whole_copies("TSN", "VB", "TRANS_B", 0),
                {"at most 160 products per work-item",
                 [](const Tunables& t) { return at(t, "WPTM") * at(t, "WPTN") <= 160; }}};
  return spec;
}

KernelSpec reduce() {
  KernelSpec spec{.name = "reduce", .path = "gemm/reduce.cl", .idea = "adds the parts of a split k"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles(m * n, at(t, "GROUP") / at(t, "SLICES"), 1, 1, at(t, "GROUP"), 1);
  };
  spec.local_bytes = [](const Tunables& t) {
    return at(t, "SLICES") == 1 ? 0 : sizeof(float) * static_cast<std::size_t>(at(t, "GROUP"));
  };
  return spec;
}

// The geometry is for one operand.
KernelSpec repack() {
  KernelSpec spec{.name = "repack", .path = "gemm/repack.cl", .idea = "operands as vectors"};
  spec.geometry = [](std::int64_t rows, std::int64_t cols, const Tunables& t) {
    const int tile = at(t, "TILE");
    return Geometry{{group_count(rows, tile) * group_count(cols, tile), 1, 1},
                    {static_cast<std::size_t>(tile), static_cast<std::size_t>(at(t, "LINES")), 1}};
  };
  spec.local_bytes = [](const Tunables& t) { return sizeof(float) * at(t, "TILE") * (at(t, "TILE") + 1); };
  return spec;
}

KernelSpec scale() {
  KernelSpec spec{.name = "scale", .path = "gemm/scale.cl", .idea = "beta C"};
  spec.computes = [](const Problem& problem) { return !problem.multiplies(); };
  spec.tile = [](const Tunables& t) { return Multiples{at(t, "GROUP") * at(t, "WPT"), 1, 1}; };
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles(m * n, at(t, "GROUP") * at(t, "WPT"), 1, 1, at(t, "GROUP"), 1);
  };
  return spec;
}

}  // namespace

std::vector<KernelSpec> gemm_kernels() {
  return {general(),    pipelined(), thin_columns(), thin_dots(), cpu_direct(),
          cpu_panels(), cpu_dots(),  reduce(),       repack(),    scale()};
}

}  // namespace duogemm
