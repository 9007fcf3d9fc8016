// The kernels for CPUs, with what the host must know about them.
#include <algorithm>

#include "families/gemm_kernels.h"
#include "families/gemm_parts.h"

namespace duogemm {
namespace {

Tunables cpu_fixed(int storage) {
  return storage >= 4 ? Tunables{} : Tunables{{"TRANS_A", storage % 2}, {"TRANS_B", storage / 2}};
}

// With what kernels for CPUs have in common: a work-item computes a tile by itself.
KernelSpec for_cpus(KernelSpec spec, Multiples (*tile)(const Tunables&)) {
  GemmFacts& gemm = spec.gemm.emplace();
  gemm.for_cpus = true;
  gemm.tile = tile;
  gemm.storage = transposes;
  gemm.fixed = cpu_fixed;
  spec.geometry = [tile](std::int64_t m, std::int64_t n, const Tunables& t) {
    return Geometry{{group_count(m, tile(t).m) * group_count(n, tile(t).n), 1, 1}, {1, 1, 1}};
  };
  return spec;
}

}  // namespace

KernelSpec cpu_direct() {
  KernelSpec spec = for_cpus(
      {.name = "cpu_direct", .path = "gemm/cpu/cpu_direct.cl", .idea = "operands as they stand, for CPUs"},
      [](const Tunables& t) {
        return Multiples{at(t, "WIDTH") * at(t, "VECTORS"), at(t, "COLS"), 1};
      });
  spec.rules = {
      {"WIDTH=4 with TRANS_A=1", [](const Tunables& t) { return !at(t, "TRANS_A") || at(t, "WIDTH") == 4; }}};
  spec.gemm->computes = [](const Problem& p) { return p.multiplies() && std::max(p.m, p.n) >= 4; };
  return spec;
}

KernelSpec cpu_panels() {
  KernelSpec spec = for_cpus(
      {.name = "cpu_panels", .path = "gemm/cpu/cpu_panels.cl", .idea = "packed panels of A, for CPUs"},
      rectangular_multiples);
  spec.local_bytes = [](const Tunables& t) {
    return sizeof(float) * at(t, "TSM") * (at(t, "TSK") + at(t, "TSN"));
  };
  spec.rules = {multiple_of("TSM", "WIDTH"), multiple_of("TSN", "COLS")};
  return spec;
}

KernelSpec cpu_dots() {
  KernelSpec spec =
      for_cpus({.name = "cpu_dots", .path = "gemm/cpu/cpu_dots.cl", .idea = "dot products, for CPUs"},
               [](const Tunables& t) {
                 return Multiples{at(t, "VECTORS"), at(t, "COLS"), at(t, "WIDTH")};
               });
  GemmFacts& gemm = *spec.gemm;
  gemm.skinny = true;
  gemm.reorders = [](const Tunables&) { return true; };
  gemm.storage = [](const Problem& p) {
    constexpr std::int64_t few = 4;
    const Problem along = vectors_along_k(p);
    const bool takes =
        std::min(p.m, p.n) <= few && along.a_op == Transpose::yes && along.b_op == Transpose::no;
    return takes ? 0 : -1;
  };
  gemm.fixed = [](int) { return Tunables{}; };
  gemm.computes = [takes = gemm.storage](const Problem& p) { return p.multiplies() && takes(p) >= 0; };
  return spec;
}

}  // namespace duogemm
