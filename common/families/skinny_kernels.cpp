// The kernels for results of few rows or columns (kernels/gemm/skinny/skinny.h).
#include <algorithm>

#include "families/gemm_kernels.h"
#include "families/gemm_parts.h"

namespace duogemm {
namespace {

// The most rows or columns that the kernels can be compiled for, see kernels/gemm/skinny/config.h.
constexpr int widest = 4;

// How one of the two multiplies a problem whose skinny side is N (0) or M (1).
struct Skinny {
  int side;
  std::int64_t length;
  std::int64_t width;
  bool x_along_k;
  bool y_along_k;
  bool x_in_vectors;
};

Skinny few_columns(const Problem& p) {
  const bool vectors = in_vectors(p.a_aligned, p.lda, p.a_stride, p);
  return {0, p.m, p.n, p.a_op == Transpose::yes, p.b_op == Transpose::no, vectors};
}

Skinny few_rows(const Problem& p) {
  const bool vectors = in_vectors(p.b_aligned, p.ldb, p.b_stride, p);
  return {1, p.n, p.m, p.b_op == Transpose::no, p.a_op == Transpose::yes, vectors};
}

// By the skinnier side that a kernel with `x_along_k` can take: the bits are the side, whether more than one
// row or column is there, how Y is stored, and whether X is read in vectors.
int storage_of_skinny(const Problem& p, bool x_along_k) {
  const bool n_first = p.n <= p.m;
  for (const Skinny& skinny :
       {n_first ? few_columns(p) : few_rows(p), n_first ? few_rows(p) : few_columns(p)}) {
    if (skinny.width <= widest && skinny.x_along_k == x_along_k && p.k <= longest_int_k) {
      const bool vectors = skinny.x_in_vectors && (x_along_k || quarters(skinny.length));
      return skinny.side + 2 * int{skinny.width > 1} + 4 * int{skinny.y_along_k} + 8 * int{vectors};
    }
  }
  return -1;
}

Tunables fixed_of_skinny(int storage) {
  return storage >= 16 ? Tunables{}
                       : Tunables{{"SIDE", storage % 2},
                                  {"SKINNY", storage / 2 % 2 == 1 ? widest : 1},
                                  {"Y_ALONG_K", storage / 4 % 2},
                                  {"VX", storage / 8 == 1 ? 4 : 1}};
}

KernelSpec skinny(KernelSpec spec, bool x_along_k, int (*rows)(const Tunables&),
                  int (*items)(const Tunables&), int (*local_floats)(const Tunables&)) {
  GemmFacts& gemm = spec.gemm.emplace();
  gemm.splits_k = true;
  gemm.skinny = true;
  gemm.storage = [=](const Problem& p) { return storage_of_skinny(p, x_along_k); };
  gemm.fixed = fixed_of_skinny;
  gemm.untimed = {"SIDE", "Y_ALONG_K"};
  gemm.computes = [=](const Problem& p) { return p.multiplies() && storage_of_skinny(p, x_along_k) >= 0; };
  gemm.tile = [=](const Tunables& t) {
    return Multiples{at(t, "SIDE") == 0 ? rows(t) : at(t, "SKINNY"),
                     at(t, "SIDE") == 0 ? at(t, "SKINNY") : rows(t), at(t, "DEPTH")};
  };
  spec.geometry = [=](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles(at(t, "SIDE") == 0 ? m : n, rows(t), 1, 1, items(t), 1);
  };
  spec.local_bytes = [=](const Tunables& t) {
    const int totals = rows(t) * at(t, "SKINNY");  // where there are clusters
    return sizeof(float) * static_cast<std::size_t>(local_floats(t) + totals);
  };
  return spec;
}

}  // namespace

KernelSpec skinny_columns() {
  const auto rows = [](const Tunables& t) { return at(t, "LANES") * at(t, "WIDTH"); };
  const auto items = [](const Tunables& t) { return at(t, "LANES") * at(t, "SLICES"); };
  const auto local_floats = [](const Tunables& t) {
    return std::max(at(t, "DEPTH") * at(t, "SKINNY"), at(t, "LANES") * at(t, "SLICES") * at(t, "WIDTH"));
  };
  KernelSpec spec = skinny({.name = "skinny_columns",
                            .path = "gemm/skinny/skinny_columns.cl",
                            .idea = "few rows or columns, read down columns"},
                           false, rows, items, local_floats);
  spec.gemm->reorders = [](const Tunables& t) { return at(t, "SLICES") > 1; };
  spec.rules = {multiple_of("WIDTH", "VX"),
                multiple_of("DEPTH", "SLICES"),
                {"LANES * SLICES to be from 32 to 512",
                 [=](const Tunables& t) { return items(t) >= 32 && items(t) <= 512; }}};
  return spec;
}

KernelSpec skinny_dots() {
  const auto rows = [](const Tunables& t) { return at(t, "GROUP") / at(t, "LANES") * at(t, "HEIGHT"); };
  const auto items = [](const Tunables& t) { return at(t, "GROUP"); };
  const auto local_floats = [](const Tunables& t) {
    return at(t, "SKINNY") * std::max(at(t, "DEPTH") + 4, at(t, "GROUP"));
  };
  KernelSpec spec = skinny({.name = "skinny_dots",
                            .path = "gemm/skinny/skinny_dots.cl",
                            .idea = "few rows or columns, read along k"},
                           true, rows, items, local_floats);
  spec.gemm->reorders = [](const Tunables& t) { return at(t, "LANES") > 1; };
  // One lane reads a row by itself, far from its neighbours unless rows are short.
  spec.gemm->suits = [](const Problem& p, const Tunables& t) {
    constexpr std::int64_t short_row = 64;
    return at(t, "LANES") == 1 ? p.k <= short_row : at(t, "LANES") * at(t, "VX") <= p.k;
  };
  spec.rules = {
      multiple_of("GROUP", "LANES"),
      {"DEPTH to be a multiple of LANES * VX",
       [](const Tunables& t) { return at(t, "DEPTH") % (at(t, "LANES") * at(t, "VX")) == 0; }},
  };
  return spec;
}

}  // namespace duogemm
