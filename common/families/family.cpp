#include "families/family.h"

#include <algorithm>

#include "families/calibration.h"
#include "families/plan.h"
#include "families/schedule.h"
#include "families/supporting.h"
#include "problem/extent.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

// Lowers one schedule. The multiplication's own problem is changed step by step: operands that are packed
// first have other leading dimensions then, and C is elsewhere while k is split.
class Builder {
 public:
  Builder(const Schedule& schedule, const Problem& problem, const DeviceInfo& device)
      : schedule_(schedule), kernel_(*schedule.kernel), problem_(problem), inner_(problem), device_(device) {}

  Plan plan() {
    if (schedule_.packs()) {
      pack();
    }
    const std::int64_t length =
        schedule_.splits == 1 ? problem_.k : split_length(kernel_, problem_.k, schedule_.splits);
    const std::int64_t splits = ceil_div(problem_.k, length);
    const bool in_workspace = splits > 1 && !schedule_.clustered;
    if (in_workspace) {
      inner_ = partial_sums(*kernel_.spec, inner_, splits);
      d_ = workspace(count_elements("the partial sums of C", {problem_.batch, inner_.c_stride}),
                     {0, inner_.ldc, inner_.c_stride});
    }
    plan_.multiply = plan_.steps.size();
    multiply(length, splits, in_workspace);
    if (in_workspace) {
      reduce(splits);
    }
    plan_.scalars = {problem_.alpha, problem_.beta};
    return std::move(plan_);
  }

 private:
  // An operand that is copied into rows x k, and where to. A stride of 0 stays one: the batch shares the copy
  // as well.
  struct Copy {
    StepMatrix from;
    StepMatrix to;
    bool transposed;
    std::int64_t rows;
    std::int64_t count;
  };

  void pack() {
    inner_ = packed(problem_, schedule_.pack_a, schedule_.pack_b);
    std::vector<Copy> copies;
    if (schedule_.pack_a) {
      copies.push_back(
          copy("the packed A", a_, problem_.a_op == Transpose::yes, problem_.m, matrix_a(inner_)));
      a_ = copies.back().to;
    }
    if (schedule_.pack_b) {
      copies.push_back(
          copy("the packed B", b_, problem_.b_op == Transpose::no, problem_.n, matrix_b(inner_)));
      b_ = copies.back().to;
    }
    // Two operands with different numbers of matrices take two launches: else most work-groups of the shorter
    // one would have none to copy.
    if (copies.size() == 2 && copies[0].count != copies[1].count) {
      add_pack({copies[0]});
      add_pack({copies[1]});
    } else {
      add_pack(copies);
    }
  }

  Copy copy(const char* what, const StepMatrix& from, bool transposed, std::int64_t rows,
            const StepMatrix& to) {
    const std::int64_t count = from.layout.stride == 0 ? 1 : problem_.batch;
    return {from, workspace(count_elements(what, {count, to.layout.ld, problem_.k}), to.layout), transposed,
            rows, count};
  }

  // One launch for one or two of them; where there is one, the other is it again, with no work-groups.
  void add_pack(const std::vector<Copy>& copies) {
    const Copy& one = copies.front();
    const Copy& other = copies.back();
    const Variant& kernel = pack_program(one.transposed, other.transposed);
    const auto groups = [&](const Copy& c) {
      return kernel.spec->geometry(c.to.layout.ld, problem_.k, kernel.tunables);
    };
    Geometry geometry = groups(one);
    if (copies.size() > 1) {
      geometry.groups[0] += groups(other).groups[0];
    }
    const auto operand = [](const Copy& copy) {
      return PackOperand{copy.rows, copy.from.layout, copy.to.layout, copy.count};
    };
    const PackArguments pack{problem_.k, operand(one), operand(other)};
    add(kernel, geometry, std::max(one.count, other.count),
        {struct_argument(pack, {{&pack.first.x.offset, one.from.operand},
                                {&pack.first.y.offset, one.to.operand},
                                {&pack.second.x.offset, other.from.operand},
                                {&pack.second.y.offset, other.to.operand}}),
         one.from.operand, one.to.operand, other.from.operand, other.to.operand});
  }

  void multiply(std::int64_t length, std::int64_t splits, bool in_workspace) {
    const Problem& p = inner_;
    Geometry geometry = kernel_.spec->geometry(p.m, p.n, kernel_.tunables);
    geometry.groups[2] = static_cast<std::size_t>(splits);
    geometry.cluster = schedule_.clustered ? static_cast<std::size_t>(splits) : 1;
    GemmArguments sizes = sizes_of(p);
    sizes.split_length = length;
    sizes.split_stride = in_workspace ? p.ldc * p.n : 0;
    sizes.cluster = static_cast<std::int64_t>(geometry.cluster);
    order_tiles(sizes, p, kernel_.tile.m);
    add(kernel_, geometry, p.batch,
        gemm_arguments(sizes, a_, b_, in_workspace ? d_ : c_, d_,
                       in_workspace ? Factors::of_sums : Factors::of_call));
  }

  void reduce(std::int64_t splits) {
    const Problem& p = problem_;
    const Variant& kernel = reduce_program(p.m * p.n * p.batch, splits);
    ReduceArguments sizes{};
    sizes.M = p.m;
    sizes.N = p.n;
    sizes.splits = splits;
    sizes.ldp = inner_.ldc;
    sizes.batch = p.batch;
    add(kernel, kernel.spec->geometry(p.m, p.n, kernel.tunables), p.batch,
        reduce_arguments(sizes, d_.operand, c_, matrix_d(p)));
  }

  void add(const Variant& kernel, const Geometry& geometry, std::int64_t batch,
           std::vector<StepArgument> arguments) {
    add_step(plan_, kernel, spread_over_batch(geometry, batch, device_), std::move(arguments), device_);
  }

  StepMatrix workspace(std::int64_t elements, const MatrixLayout& layout) {
    const Operand operand{first_workspace + static_cast<int>(plan_.workspace_bytes.size())};
    plan_.workspace_bytes.push_back(sizeof(float) * static_cast<std::size_t>(elements));
    return {operand, operand_none, layout};
  }

  const Schedule& schedule_;
  const Variant& kernel_;
  const Problem& problem_;
  Problem inner_;
  const DeviceInfo& device_;
  StepMatrix a_ = matrix_a(problem_);
  StepMatrix b_ = matrix_b(problem_);
  StepMatrix c_ = matrix_c(problem_);
  StepMatrix d_ = matrix_d(problem_);
  Plan plan_;
};

}  // namespace

Family::Family(const std::vector<Tunables>& fixed, const std::vector<std::string>& untimed) {
  for (const Tunables& each : fixed) {
    Storage storage{each, each};
    erase_if(storage.timed, [&](const auto& tunable) {
      return std::find(untimed.begin(), untimed.end(), tunable.first) != untimed.end();
    });
    storages_.push_back(std::move(storage));
  }
}

bool Family::decides(std::string_view tunable) const {
  return is_measured() && std::ranges::all_of(storages_, [&](const Storage& storage) {
           return storage.fixed.contains(tunable);
         });
}

Answer<const Variant*> Family::variant(const KernelSpec& spec, const Tunables& asked,
                                       const Problem& problem) const {
  return try_variant(spec, asked, problem);
}

std::vector<Calibration> Family::calculated(const KernelSpec&, const UnmeasuredGpu&) const { return {}; }

Plan Family::lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) const {
  return Builder(schedule, problem, device).plan();
}

std::vector<const Variant*> Family::companions(const Variant&) const { return {}; }

}  // namespace duogemm
