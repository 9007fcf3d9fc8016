// The family of kernels for results of few rows or columns (kernels/gemm/skinny/skinny.h).
#include <algorithm>

#include "families/kernel_parts.h"
#include "families/kernel_spec.h"
#include "families/plan.h"

namespace duogemm {
namespace {

// The most rows or columns that the kernels can be compiled for, see kernels/gemm/skinny/config.h.
constexpr int widest = 4;

// Op(A) op(B) as X Y for a kernel, which multiplies a problem whose skinny side is N (0) or M (1).
struct Side {
  int side;
  std::int64_t length;
  std::int64_t width;
  bool x_along_k;
  bool y_along_k;
  bool x_in_vectors;
};

Side few_columns(const Problem& p) {
  const bool vectors = in_vectors(p.a_aligned, p.lda, p.a_stride, p);
  return {0, p.m, p.n, p.a_op == Transpose::yes, p.b_op == Transpose::no, vectors};
}

Side few_rows(const Problem& p) {
  const bool vectors = in_vectors(p.b_aligned, p.ldb, p.b_stride, p);
  return {1, p.n, p.m, p.b_op == Transpose::no, p.a_op == Transpose::yes, vectors};
}

class Skinny : public Family {
 public:
  // `x_along_k`: how X must be stored. `rows` of X are those of a work-group.
  Skinny(bool x_along_k, int (*rows)(const Tunables&))
      : Family(every({{"SIDE", {0, 1}}, {"SKINNY", {1, widest}}, {"Y_ALONG_K", {0, 1}}, {"VX", {1, 4}}}),
               {"SIDE", "Y_ALONG_K"}),
        x_along_k_(x_along_k),
        rows_(rows) {}

  // By the skinnier side that the kernel can take.
  int storage_of(const Problem& p) const override {
    const bool n_first = p.n <= p.m;
    for (const Side& side :
         {n_first ? few_columns(p) : few_rows(p), n_first ? few_rows(p) : few_columns(p)}) {
      if (side.width <= widest && side.x_along_k == x_along_k_ && p.k <= longest_int_k) {
        const bool vectors = side.x_in_vectors && (x_along_k_ || quarters(side.length));
        return side.side + 2 * int{side.width > 1} + 4 * int{side.y_along_k} + 8 * int{vectors};
      }
    }
    return -1;
  }
  Multiples tile(const Tunables& t) const override {
    return {at(t, "SIDE") == 0 ? rows_(t) : at(t, "SKINNY"), at(t, "SIDE") == 0 ? at(t, "SKINNY") : rows_(t),
            at(t, "DEPTH")};
  }
  bool stops_at_k() const override { return true; }
  bool measured_on_skinny() const override { return true; }
  bool splits_k() const override { return true; }
  std::int64_t split_multiple(const Multiples&) const override { return 32; }
  // The kernels write single values, and a result of few rows would mostly be padding.
  bool pads_partial_sums() const override { return false; }

  // It takes as long as reading the long operand does.
  std::vector<Calibration> calculated(const KernelSpec& spec, const UnmeasuredGpu& gpu) const override {
    std::vector<Calibration> calibrations;
    for (const Storage& storage : storages()) {
      const Variant& kernel = variant_of(spec, resolve(spec, storage.fixed));
      if (unsupported_reason(kernel, gpu.device)) {
        continue;
      }
      const double bytes =
          sizeof(float) * static_cast<double>(std::max(kernel.tile.m, kernel.tile.n)) * gpu.units;
      const double per_k = bytes / gpu.reading;
      constexpr int most = 16;
      calibrations.push_back(
          {&spec, kernel.tunables, {{1, gpu.fixed, per_k}, {most, gpu.fixed, most * per_k}}});
    }
    return calibrations;
  }
  std::vector<const Variant*> companions(const Variant&) const override { return packs_and_reductions(); }

 private:
  bool x_along_k_;
  int (*rows_)(const Tunables&);
};

KernelSpec with_launch(KernelSpec spec, int (*rows)(const Tunables&), int (*items)(const Tunables&),
                       int (*local_floats)(const Tunables&)) {
  spec.geometry = [=](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles_in_line(at(t, "SIDE") == 0 ? m : n, rows(t), 1, 1, items(t));
  };
  spec.local_bytes = [=](const Tunables& t) {
    const int totals = rows(t) * at(t, "SKINNY");  // where there are clusters
    return sizeof(float) * static_cast<std::size_t>(local_floats(t) + totals);
  };
  return spec;
}

// --- X is read down columns ------------------------------------------------------------------------------

int rows_of_columns(const Tunables& t) { return at(t, "LANES") * at(t, "WIDTH"); }

class SkinnyColumns : public Skinny {
 public:
  SkinnyColumns() : Skinny(false, rows_of_columns) {}
  bool reorders(const Tunables& t) const override { return at(t, "SLICES") > 1; }
};

KernelSpec skinny_columns() {
  const auto items = [](const Tunables& t) { return at(t, "LANES") * at(t, "SLICES"); };
  const auto local_floats = [](const Tunables& t) {
    return std::max(at(t, "DEPTH") * at(t, "SKINNY"), at(t, "LANES") * at(t, "SLICES") * at(t, "WIDTH"));
  };
  KernelSpec spec = with_launch({.name = "skinny_columns",
                                 .path = "gemm/skinny/skinny_columns.cl",
                                 .idea = "few rows or columns, read down columns"},
                                rows_of_columns, items, local_floats);
  spec.rules = {multiple_of("WIDTH", "VX"),
                multiple_of("DEPTH", "SLICES"),
                {"LANES * SLICES to be from 32 to 512",
                 [=](const Tunables& t) { return items(t) >= 32 && items(t) <= 512; }}};
  spec.family = std::make_shared<SkinnyColumns>();
  return spec;
}

// --- X is read along k -----------------------------------------------------------------------------------

int rows_of_dots(const Tunables& t) { return at(t, "GROUP") / at(t, "LANES") * at(t, "HEIGHT"); }

class SkinnyDots : public Skinny {
 public:
  SkinnyDots() : Skinny(true, rows_of_dots) {}
  bool reorders(const Tunables& t) const override { return at(t, "LANES") > 1; }
  // One lane reads a row by itself, far from its neighbours unless rows are short.
  bool worthwhile(const Problem& p, const Tunables& t) const override {
    constexpr std::int64_t short_row = 64;
    return at(t, "LANES") == 1 ? p.k <= short_row : at(t, "LANES") * at(t, "VX") <= p.k;
  }
};

KernelSpec skinny_dots() {
  const auto items = [](const Tunables& t) { return at(t, "GROUP"); };
  const auto local_floats = [](const Tunables& t) {
    return at(t, "SKINNY") * std::max(at(t, "DEPTH") + 4, at(t, "GROUP"));
  };
  KernelSpec spec = with_launch({.name = "skinny_dots",
                                 .path = "gemm/skinny/skinny_dots.cl",
                                 .idea = "few rows or columns, read along k"},
                                rows_of_dots, items, local_floats);
  spec.rules = {
      multiple_of("GROUP", "LANES"),
      {"DEPTH to be a multiple of LANES * VX",
       [](const Tunables& t) { return at(t, "DEPTH") % (at(t, "LANES") * at(t, "VX")) == 0; }},
  };
  spec.family = std::make_shared<SkinnyDots>();
  return spec;
}

}  // namespace

std::vector<KernelSpec> skinny_kernels() { return {skinny_columns(), skinny_dots()}; }

}  // namespace duogemm
