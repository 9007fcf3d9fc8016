#include <algorithm>

#include "cpu_plan.h"
#include "planner.h"
#include "rounding.h"

namespace duogemm {
namespace {

// As many work-groups along the batch as keep a GPU busy and the device allows; each walks over as many
// members as the others, or one fewer. To start one takes an H200 0.64 ns, which is more than a small
// product.
Geometry spread_over_batch(Geometry geometry, std::int64_t batch, const DeviceInfo& device) {
  constexpr std::size_t busy = 128;
  const std::size_t of_member = geometry.groups[0] * geometry.groups[2];
  const std::size_t enough = ceil_div(busy * std::max<std::size_t>(device.compute_units, 1), of_member);
  const std::size_t most = std::min(enough, device.max_groups[1]);
  const auto members = static_cast<std::size_t>(batch);
  geometry.groups[1] = ceil_div(members, ceil_div(members, most));
  return geometry;
}

void add_scale(Plan& plan, Tunables set, const Problem& p, const DeviceInfo& device) {
  const KernelSpec& spec = find_kernel("scale");
  set["BATCH"] = static_cast<int>(p.batch_by);
  const Tunables tunables = settle(spec, set);
  add_step(plan, spec, tunables, spread_over_batch(spec.geometry(p.m, p.n, tunables), p.batch, device),
           {p.m, p.n, p.beta, operand_c, OffsetOf{operand_c}, p.ldc, p.c_stride, table_c, p.batch}, device);
}

// Columns that begin anywhere in a cache's lines (128 bytes on GPUs, which move sectors of 32) take more of
// them to read; short ones would be spread out too far.
std::int64_t repacked_ld(std::int64_t rows) {
  constexpr std::int64_t sector = 8;
  constexpr std::int64_t line = 32;
  return round_up(rows, rows < 8 * line ? sector : line);
}

// Carries out one choice. The multiplication's own problem is changed step by step: operands that are copied
// first have other leading dimensions then, and C is elsewhere while K is in parts.
class Builder {
 public:
  Builder(const Choice& choice, const Problem& problem, const DeviceInfo& device)
      : choice_(choice), spec_(*choice.spec), problem_(problem), inner_(problem), device_(device) {}

  Plan plan() {
    if (choice_.repacked) {
      repack();
    }
    const std::int64_t length =
        choice_.parts == 1
            ? problem_.k
            : part_length(spec_, settle_for(spec_, choice_.tunables, inner_), problem_.k, choice_.parts);
    const std::int64_t parts = ceil_div(problem_.k, length);
    const bool gathers = parts > 1 && !choice_.clustered;
    if (gathers) {
      gather_parts(parts);
    } else {
      inner_.cluster = static_cast<int>(parts);
    }
    plan_.multiply = plan_.steps.size();
    multiply(length, parts);
    if (gathers) {
      reduce(parts);
    }
    return std::move(plan_);
  }

 private:
  // An operand that is copied into rows x k, and where to. A stride of 0 stays one: the batch shares the copy
  // as well.
  struct Copy {
    Place from;
    Place to;
    bool turn;
    std::int64_t rows;
    std::int64_t ld;
    std::int64_t stride;
    std::int64_t new_ld;
    std::int64_t new_stride;
    std::int64_t count;
  };

  void repack() {
    if (!spec_.repacks || problem_.batch_by != BatchBy::strides) {
      throw Error(Status::invalid_argument,
                  "operands are repacked for kernels that gain from it, and not for batches by lists");
    }
    const CopiedOperands copied = copied_by_repacking(spec_, problem_, choice_.turning);
    inner_ = repacked(problem_, copied);
    std::vector<Copy> copies;
    if (copied.a) {
      copies.push_back(copy(a_, problem_.a_op == Transpose::yes, problem_.m, problem_.lda, problem_.a_stride,
                            inner_.lda, inner_.a_stride));
      a_ = copies.back().to;
    }
    if (copied.b) {
      copies.push_back(copy(b_, problem_.b_op == Transpose::no, problem_.n, problem_.ldb, problem_.b_stride,
                            inner_.ldb, inner_.b_stride));
      b_ = copies.back().to;
    }
    // Of different numbers of matrices, the shorter one's work-groups would mostly have none to copy.
    if (copies.size() == 2 && copies[0].count != copies[1].count) {
      add_repack({copies[0]});
      add_repack({copies[1]});
    } else if (!copies.empty()) {
      add_repack(copies);
    }
  }

  Copy copy(const Place& from, bool turn, std::int64_t rows, std::int64_t ld, std::int64_t stride,
            std::int64_t new_ld, std::int64_t new_stride) {
    const std::int64_t count = stride == 0 ? 1 : problem_.batch;
    const Place to{workspace(count * new_ld * problem_.k), std::int64_t{0}, from.table};
    return {from, to, turn, rows, ld, stride, new_ld, new_stride, count};
  }

  // One launch for one or two of them; where there is one, the other is it again, with no work-groups.
  void add_repack(const std::vector<Copy>& copies) {
    const KernelSpec& spec = find_kernel("repack");
    const Copy& one = copies.front();
    const Copy& other = copies.back();
    const Tunables tunables = settle(spec, {{"TURN_0", one.turn}, {"TURN_1", other.turn}});
    Geometry geometry = spec.geometry(one.new_ld, problem_.k, tunables);
    if (copies.size() > 1) {
      geometry.groups[0] += spec.geometry(other.new_ld, problem_.k, tunables).groups[0];
    }
    std::vector<StepArgument> arguments = {problem_.k};
    for (const Copy& copy : {one, other}) {
      arguments.insert(arguments.end(), {copy.rows, copy.from.operand, copy.from.offset, copy.ld, copy.stride,
                                         copy.to.operand, copy.new_ld, copy.new_stride, copy.count});
    }
    add(spec, tunables, geometry, std::max(one.count, other.count), std::move(arguments));
  }

  void gather_parts(std::int64_t parts) {
    inner_ = gathered(spec_, inner_, parts);
    c_ = {workspace(problem_.batch * inner_.c_stride), std::int64_t{0}, table_c};
  }

  void multiply(std::int64_t length, std::int64_t parts) {
    const Problem& p = inner_;
    const Tunables tunables = settle_for(spec_, choice_.tunables, p);
    Geometry geometry = spec_.geometry(p.m, p.n, tunables);
    geometry.groups[2] = static_cast<std::size_t>(parts);
    std::vector<StepArgument> arguments = product_arguments(p, a_, b_, c_);
    if (spec_.splits_k) {
      arguments.insert(arguments.end(), {length, p.cluster > 1 ? 0 : p.ldc * p.n});
    }
    add(spec_, tunables, geometry, p.batch, std::move(arguments));
  }

  void reduce(std::int64_t parts) {
    const Problem& p = problem_;
    const KernelSpec& spec = find_kernel("reduce");
    const Tunables tunables = settle(spec, {{"SLICES", reducing_slices(parts)}});
    add(spec, tunables, spec.geometry(p.m, p.n, tunables), p.batch,
        {p.m, p.n, parts, c_.operand, inner_.ldc, p.alpha, p.beta, operand_c, OffsetOf{operand_c}, p.ldc,
         p.c_stride, p.batch});
  }

  // Where there are few elements, several work-items share one.
  int reducing_slices(std::int64_t parts) const {
    constexpr std::int64_t few_elements = 1 << 16;
    if (problem_.m * problem_.n * problem_.batch > few_elements || parts < 16) {
      return 1;
    }
    return parts < 128 ? 8 : 32;
  }

  void add(const KernelSpec& spec, const Tunables& tunables, const Geometry& geometry, std::int64_t batch,
           std::vector<StepArgument> arguments) {
    add_step(plan_, spec, tunables, spread_over_batch(geometry, batch, device_), std::move(arguments),
             device_);
  }

  Operand workspace(std::int64_t elements) {
    plan_.workspace_bytes.push_back(sizeof(float) * static_cast<std::size_t>(elements));
    return {first_workspace + static_cast<int>(plan_.workspace_bytes.size()) - 1};
  }

  const Choice& choice_;
  const KernelSpec& spec_;
  const Problem& problem_;
  Problem inner_;
  const DeviceInfo& device_;
  Place a_ = place_of_a;
  Place b_ = place_of_b;
  Place c_ = place_of_c;
  Plan plan_;
};

}  // namespace

CopiedOperands copied_by_repacking(const KernelSpec& spec, const Problem& problem, bool turning) {
  const Tunables as_given = spec.dictated(problem).value_or(Tunables{});
  const auto is = [&](const char* name, int value) { return value_or(as_given, name, -1) == value; };
  const bool keeps_a = turning && problem.a_op == Transpose::yes;
  const bool keeps_b = turning && problem.b_op == Transpose::no;
  return {!keeps_a && (!is("TRANS_A", 0) || !is("VA", 4)), !keeps_b && (!is("TRANS_B", 1) || !is("VB", 4))};
}

Problem repacked(const Problem& problem, const CopiedOperands& copied) {
  Problem p = problem;
  if (copied.a) {
    p.a_op = Transpose::no;
    p.lda = repacked_ld(p.m);
    p.a_stride = p.a_stride == 0 ? 0 : p.lda * p.k;
    p.a_aligned = p.a_padded = true;
  }
  if (copied.b) {
    p.b_op = Transpose::yes;
    p.ldb = repacked_ld(p.n);
    p.b_stride = p.b_stride == 0 ? 0 : p.ldb * p.k;
    p.b_aligned = p.b_padded = true;
  }
  return p;
}

Problem gathered(const KernelSpec& spec, const Problem& problem, std::int64_t parts) {
  Problem p = problem;
  // Kernels for thin results write single values, and a result of few rows would mostly be padding.
  p.ldc = spec.thin ? p.m : round_up(p.m, 4);
  p.c_stride = parts * p.ldc * p.n;
  p.c_aligned = true;
  p.c_padded = !spec.thin;
  p.alpha = 1.0f;
  p.beta = 0.0f;
  return p;
}

Plan carry_out(const Choice& choice, const Problem& problem, const DeviceInfo& device) {
  if (choice.parts > 1 && !may_split(*choice.spec, problem)) {
    throw Error(Status::invalid_argument,
                "parts=" + std::to_string(choice.parts) +
                    ": k is split by kernels that can, at the level run_to_run, and "
                    "not for batches by lists");
  }
  if (choice.clustered && (choice.parts > most_in_cluster || !device.clusters)) {
    throw Error(
        choice.parts > most_in_cluster ? Status::invalid_argument : Status::unsupported,
        "clustered=1: up to " + std::to_string(most_in_cluster) +
            " parts, on a device whose work-groups form clusters: through CUDA, of compute capability "
            "9.0 and newer");
  }
  return choice.spec->for_cpus ? plan_on_cpu(choice, problem, device)
                               : Builder(choice, problem, device).plan();
}

Plan plan_sgemm(const KernelSpec& spec, const Tunables& set, const Problem& problem,
                const DeviceInfo& device) {
  if (problem.multiplies()) {
    return carry_out({&spec, set}, problem, device);
  }
  Plan plan;
  add_scale(plan, set, problem, device);
  return plan;
}

Plan plan_sgemm(const Problem& problem, const DeviceInfo& device) {
  validate(problem);
  if (problem.is_empty()) {
    return {};
  }
  return problem.multiplies() ? carry_out(choose(problem, device, tuning_for(device)), problem, device)
                              : plan_sgemm(find_kernel("scale"), {}, problem, device);
}

}  // namespace duogemm
