// The library's own kernels, with what the host must know about them.
#include "families/gemm_kernels.h"

#include <algorithm>
#include <numeric>

#include "families/gemm_parts.h"
#include "families/tensor_kernels.h"

namespace duogemm {
namespace {

// So far apart, the columns of the largest tile, 128, are just within 31 bits.
constexpr std::int64_t longest_int_ld = (std::int64_t{1} << 24) - 2;

// Work-groups in one dimension: its limit is the highest that devices have.
KernelSpec general() {
  KernelSpec spec{.name = "general", .path = "gemm/general.cl", .idea = "any size, any transpose"};
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
  spec.rules = {multiple_of("TSM", "WPTM"), multiple_of("TSN", "WPTN"), whole_loads("TSM"),
                whole_loads("TSN")};
  GemmFacts& gemm = spec.gemm.emplace();
  gemm.tile = rectangular_multiples;
  gemm.storage = [](const Problem& p) {
    return transposes(p) + 4 * int{std::max({p.lda, p.ldb, p.ldc, p.addend_ld}) > longest_int_ld};
  };
  gemm.fixed = [](int storage) {
    return storage >= 8
               ? Tunables{}
               : Tunables{
                     {"TRANS_A", storage % 2}, {"TRANS_B", storage / 2 % 2}, {"LONG_OFFSETS", storage / 4}};
  };
  gemm.untimed = {"LONG_OFFSETS"};
  gemm.stops_at_k = true;
  return spec;
}

// A and B are read in vectors of four, or both one by one: the wider of two widths does not help much. From 8
// on, only one of them lies as vectors need it, and the other is transposed value by value.
int pipelined_storage(const Problem& p) {
  if (p.k > longest_int_k) {
    return -1;
  }
  const bool a = a_in_vectors(p);
  const bool b = b_in_vectors(p);
  const bool transposes_a = p.a_op == Transpose::yes;
  const bool transposes_b = p.b_op == Transpose::no;
  const bool beside = transposes_a != transposes_b && a != b && (transposes_a ? b : a);
  return transposes(p) + (a && b ? 4 : beside ? 8 : 0);
}

Tunables pipelined_fixed(int storage) {
  if (storage >= 12) {
    return {};
  }
  Tunables fixed = {{"PATCH", 0},
                    {"TRANS_A", storage % 2},
                    {"TRANS_B", storage / 2 % 2},
                    {"V", storage < 4 ? 1 : 4}};
  if (storage >= 8) {
    fixed["TRANSPOSE_ASYNC"] = 1;
  }
  return fixed;
}

// Of an operand that does not fill a tile, work-items beyond its last vector copy that one too. Where all
// work-groups do so with the same few values, and past the L1 cache, they wait for each other: up to 9 times
// as long on an H200 (see plan/README.md).
bool pipelined_suits(const Problem& p, const Tunables& t) {
  constexpr std::int64_t few = 4096;
  const auto contended = [&](bool direct, std::int64_t size, const char* tile, std::int64_t stride) {
    const bool by_all = p.batch == 1 || stride == 0;
    return by_all && direct && quarters(size) && size * p.k <= few && size < at(t, tile);
  };
  return !(contended(p.a_op == Transpose::no, p.m, "TSM", p.a_stride) ||
           contended(p.b_op == Transpose::yes, p.n, "TSN", p.b_stride)) ||
         at(t, "ASYNC") != 1;
}

int pipelined_work_items(const Tunables& t) {
  return at(t, "TSM") / at(t, "WPTM") * (at(t, "TSN") / at(t, "WPTN"));
}

// How many rows of an operand's tile a work-group copies at once (see kernels/gemm/tiled/copy.h).
int rows_at_once(const Tunables& t, int across, bool transposes) {
  const auto power_of_2 = [](int x) { return x % 3 == 0 ? x / 3 * 2 : x; };
  const auto rows = [&](int most) {
    const int abreast = across <= most ? across : across % 3 == 0 ? most : power_of_2(most);
    return power_of_2(most / abreast);
  };
  const int items = pipelined_work_items(t);
  if (!transposes) {
    return rows(items);
  }
  // Along a column: LANES_K with one row each, or two with four rows each.
  return at(t, "TRANSPOSE_ASYNC") != 0 ? at(t, "LANES_K") * rows(items / at(t, "LANES_K"))
                                       : 8 * rows(items / 2);
}

// Whether a work-group copies no more of an operand at once than there is.
Rule whole_copies(const char* tile, const char* trans, int transposed) {
  return {std::string("TSK to be no less than the rows of ") + tile + " that a work-group copies at once",
          [=](const Tunables& t) {
            const bool transposes = at(t, trans) == transposed;
            const int across = transposes ? at(t, tile) : at(t, tile) / at(t, "V");
            return rows_at_once(t, across, transposes) <= at(t, "TSK");
          }};
}

KernelSpec pipelined() {
  KernelSpec spec{.name = "pipelined", .path = "gemm/tiled/pipelined.cl", .idea = "tiles copied ahead"};
  GemmFacts& gemm = spec.gemm.emplace();
  gemm.computes = [](const Problem& p) { return p.multiplies() && pipelined_storage(p) >= 0; };
  gemm.tile = rectangular_multiples;
  gemm.storage = pipelined_storage;
  gemm.fixed = pipelined_fixed;
  gemm.suits = pipelined_suits;
  gemm.splits_k = true;
  gemm.worth_packing = true;
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return Geometry{{group_count(m, at(t, "TSM")) * group_count(n, at(t, "TSN")), 1, 1},
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
                {"LANE_ORDER to be 1 only with LANES_M 4, 8 or 16: with 2 it changes nothing, with 1 and 32 "
                 "there is no square",
                 [](const Tunables& t) {
                   return at(t, "LANE_ORDER") == 0 || (at(t, "LANES_M") > 2 && at(t, "LANES_M") < 32);
                 }},
                {"PATCH to be 1 only with TSM and TSN that divide 128",
                 [](const Tunables& t) {
                   return at(t, "PATCH") == 0 || (128 % at(t, "TSM") == 0 && 128 % at(t, "TSN") == 0);
                 }},
                {"TSM or TSN to be a power of 2",
                 [](const Tunables& t) { return at(t, "TSM") % 3 != 0 || at(t, "TSN") % 3 != 0; }},
                whole_copies("TSM", "TRANS_A", 1),
                whole_copies("TSN", "TRANS_B", 0),
                {"at most 160 products per work-item",
                 [](const Tunables& t) { return at(t, "WPTM") * at(t, "WPTN") <= 160; }}};
  return spec;
}

KernelSpec reduce() {
  KernelSpec spec{.name = "reduce", .path = "gemm/reduce.cl", .idea = "adds up the slices of a split k"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles(m * n, at(t, "GROUP") / at(t, "ITEMS"), 1, 1, at(t, "GROUP"), 1);
  };
  spec.local_bytes = [](const Tunables& t) {
    return at(t, "ITEMS") == 1 ? 0 : sizeof(float) * static_cast<std::size_t>(at(t, "GROUP"));
  };
  return spec;
}

// The geometry is for one operand.
KernelSpec pack() {
  KernelSpec spec{.name = "pack", .path = "gemm/pack.cl", .idea = "operands as vectors"};
  spec.geometry = [](std::int64_t rows, std::int64_t cols, const Tunables& t) {
    const int tile = at(t, "TILE");
    return Geometry{{group_count(rows, tile) * group_count(cols, tile), 1, 1},
                    {static_cast<std::size_t>(tile), static_cast<std::size_t>(at(t, "LINES")), 1}};
  };
  spec.local_bytes = [](const Tunables& t) { return sizeof(float) * at(t, "TILE") * (at(t, "TILE") + 1); };
  return spec;
}

KernelSpec finish() {
  KernelSpec spec{.name = "finish", .path = "gemm/finish.cl", .idea = "beta C, bias, activation, factors in memory"};
  GemmFacts& gemm = spec.gemm.emplace();
  gemm.computes = [](const Problem& problem) { return !problem.multiplies(); };
  gemm.tile = [](const Tunables& t) { return Multiples{at(t, "GROUP") * at(t, "WPT"), 1, 1}; };
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles(m * n, at(t, "GROUP") * at(t, "WPT"), 1, 1, at(t, "GROUP"), 1);
  };
  return spec;
}

}  // namespace

std::vector<KernelSpec> gemm_kernels() {
  return {general(), pipelined(), skinny_columns(), skinny_dots(), cpu_direct(), cpu_panels(), cpu_dots(),
          reduce(),  pack(),      finish(),         split(),       tensor(),     tensor_mma()};
}

}  // namespace duogemm
