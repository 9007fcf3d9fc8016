#include "families/supporting.h"

#include <array>

#include "families/kernel_parts.h"
#include "families/registry.h"

namespace duogemm {
namespace {

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

// It computes what is left of a multiplication when alpha or k is zero.
class Scaling : public Family {
 public:
  bool computes(const Problem& problem) const override { return !problem.multiplies(); }
  Multiples tile(const Tunables& t) const override { return {at(t, "GROUP") * at(t, "WPT"), 1, 1}; }
};

KernelSpec finish() {
  KernelSpec spec{
      .name = "finish", .path = "gemm/finish.cl", .idea = "beta C, bias, activation, factors in memory"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    return tiles(m * n, at(t, "GROUP") * at(t, "WPT"), 1, 1, at(t, "GROUP"), 1);
  };
  spec.family = std::make_shared<Scaling>();
  return spec;
}

}  // namespace

std::vector<KernelSpec> supporting_kernels() { return {reduce(), pack(), finish()}; }

const Variant& program(std::string_view kernel, const Tunables& set) {
  const KernelSpec& spec = find_kernel(kernel);
  return variant_of(spec, resolve(spec, set));
}

// Resolved once, as reductions are: these two are part of many plans.
const Variant& pack_program(bool transposed_0, bool transposed_1) {
  static const std::array programs = {
      &program("pack", {{"TRANS_0", 0}, {"TRANS_1", 0}}), &program("pack", {{"TRANS_0", 0}, {"TRANS_1", 1}}),
      &program("pack", {{"TRANS_0", 1}, {"TRANS_1", 0}}), &program("pack", {{"TRANS_0", 1}, {"TRANS_1", 1}})};
  return *programs[2 * std::size_t{transposed_0} + std::size_t{transposed_1}];
}

std::int64_t pack_tile() {
  static const int tile = at(pack_program(false, false).tunables, "TILE");
  return tile;
}

// Several work-items share an element where there are few of them.
const Variant& reduce_program(std::int64_t elements, std::int64_t splits) {
  static const std::array programs = {&program("reduce", {{"ITEMS", 1}}), &program("reduce", {{"ITEMS", 8}}),
                                      &program("reduce", {{"ITEMS", 32}})};
  constexpr std::int64_t few_elements = 1 << 16;
  if (elements > few_elements || splits < 16) {
    return *programs[0];
  }
  return *programs[splits < 128 ? 1 : 2];
}

std::vector<const Variant*> packs_and_reductions() {
  std::vector<const Variant*> programs;
  for (const std::int64_t splits : {2, 16, 128}) {
    programs.push_back(&reduce_program(1, splits));
  }
  for (const int transposes : {0, 1, 2, 3}) {
    programs.push_back(&pack_program(transposes / 2 == 1, transposes % 2 == 1));
  }
  return programs;
}

const Variant& finish_program() { return program("finish"); }

}  // namespace duogemm
