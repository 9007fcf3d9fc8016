// The kernel for short sums, whose work-items read A and B right from memory (kernels/gemm/direct.cl).
#include <memory>

#include "families/kernel_parts.h"
#include "families/kernel_spec.h"
#include "families/plan.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

class ShortSums : public Family {
 public:
  ShortSums() : Family(every({{"TRANS_A", {0, 1}}, {"TRANS_B", {0, 1}}})) {}

  int storage_of(const Problem& p) const override { return transposes(p); }
  // Of a result large enough.
  Multiples tile(const Tunables& t) const override {
    return {std::int64_t{at(t, "GROUP")} * at(t, "ROWS"), at(t, "COLS"), 1};
  }
  Multiples block(const Tunables& t) const override { return {at(t, "ROWS"), at(t, "COLS"), 1}; }
  std::int64_t longest_k() const override { return 64; }

  // Each k takes a block's multiply-adds, and its loads, of which a unit does a quarter as many at once.
  // Neighbours read a transposed A far apart.
  std::vector<Calibration> calculated(const KernelSpec& spec, const UnmeasuredGpu& gpu) const override {
    std::vector<Calibration> calibrations;
    for (const Storage& storage : storages()) {
      const Variant& kernel = variant_of(spec, resolve(spec, storage.fixed));
      if (!unsupported_reason(kernel, gpu.device)) {
        const Tunables& t = kernel.tunables;
        const double products = at(t, "ROWS") * at(t, "COLS");
        const double loads = at(t, "ROWS") * (at(t, "TRANS_A") != 0 ? 4.0 : 1.0) + at(t, "COLS");
        calibrations.push_back(
            gpu.calibration(kernel, 8, at(t, "GROUP") * (products + 4.0 * loads), gpu.lanes * gpu.clock));
      }
    }
    return calibrations;
  }

  Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) const override {
    const Variant& kernel = *schedule.kernel;
    const std::int64_t columns = round_up(problem.n, block(kernel.tunables).n);
    Plan plan;
    add_step(plan, kernel, kernel.spec->geometry(problem.m, columns * problem.batch, kernel.tunables),
             gemm_arguments(sizes_of(problem), matrix_a(problem), matrix_b(problem), matrix_c(problem),
                            matrix_d(problem), Factors::of_call),
             device);
    plan.scalars = {problem.alpha, problem.beta};
    return plan;
  }
};

}  // namespace

std::vector<KernelSpec> direct_kernels() {
  KernelSpec spec{.name = "direct", .path = "gemm/direct.cl", .idea = "short sums, right from memory"};
  spec.geometry = [](std::int64_t m, std::int64_t n, const Tunables& t) {
    const std::int64_t blocks = ceil_div(m, at(t, "ROWS")) * ceil_div(n, at(t, "COLS"));
    return tiles_in_line(blocks, at(t, "GROUP"), 1, 1, at(t, "GROUP"));
  };
  spec.family = std::make_shared<ShortSums>();
  return {spec};
}

}  // namespace duogemm
