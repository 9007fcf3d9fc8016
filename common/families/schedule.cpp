#include <algorithm>
#include <charconv>
#include <map>

#include "families/plan.h"
#include "problem/element_type.h"
#include "problem/precision.h"
#include "problem/problem.h"
#include "problem/rounding.h"
#include "system/reject.h"

namespace duogemm {
namespace {

// Columns that begin anywhere in a cache's lines (128 bytes on GPUs, which move sectors of 32) take more of
// them to read; short ones would be spread out too far.
std::int64_t packed_ld(std::int64_t rows) {
  constexpr std::int64_t sector = 8;
  constexpr std::int64_t line = 32;
  return round_up(rows, rows < 8 * line ? sector : line);
}

std::int64_t partial_ld(const KernelSpec& spec, const Problem& p) {
  return spec.family->pads_partial_sums() ? round_up(p.m, 4) : p.m;
}

// No split is empty.
std::int64_t splits_of(const ScheduleRequest& request, const Problem& problem) {
  return std::min(request.splits, problem.k);
}

// Throws where the request cannot be carried out for the problem, whatever its tunables are.
void require_possible(const ScheduleRequest& request, const Problem& p, const DeviceInfo& device) {
  const Family& family = *request.spec->family;
  if (request.splits > 1 && !may_split(*request.spec, p)) {
    reject("slices=" + std::to_string(request.splits) +
           ": k is split by kernels that can, and not for batches by lists; at the levels everywhere and "
           "batch_invariant from " +
           std::to_string(everywhere_split + 1) + " k on, and not on tensor cores");
  }
  if (request.splits > 1 && p.is_invariant() && request.splits != p.owed_splits()) {
    reject("slices=" + std::to_string(request.splits) + ": " + std::to_string(p.owed_splits()) +
           " at the level " + to_text(p.level) + ", each of " + std::to_string(everywhere_split) + " k");
  }
  if (request.clustered && request.splits > most_in_cluster) {
    reject("clustered=1: up to " + std::to_string(most_in_cluster) + " slices");
  }
  if (request.clustered && !family.adds_in_clusters()) {
    reject("clustered=1: not with " + request.spec->name + ", which adds slices up through a workspace");
  }
  if (request.clustered && !device.clusters) {
    throw Error(
        Status::unsupported,
        "clustered=1: on a device whose work-groups form clusters: through CUDA, of compute capability "
        "9.0 and newer");
  }
  if ((request.pack_a || request.pack_b) && !may_pack(*request.spec, p)) {
    reject("pack_a=1, pack_b=1: operands are packed for kernels that gain from it, which " +
           request.spec->name + " does not, and not for batches by lists");
  }
  const auto members = [&](std::int64_t stride) { return stride == 0 ? 1 : p.batch; };
  if (request.pack_a) {
    count_elements("the packed A", {packed_ld(p.m), p.k, members(p.a_stride)});
  }
  if (request.pack_b) {
    count_elements("the packed B", {packed_ld(p.n), p.k, members(p.b_stride)});
  }
  if (request.splits > 1 && !request.clustered) {
    count_elements("the partial sums of C",
                   {splits_of(request, p), partial_ld(*request.spec, p), p.n, p.batch});
  }
}

// "NAME=number", where the whole text is that.
std::pair<std::string, int> parse_item(const std::string& item) {
  const std::size_t equals = item.find('=');
  const char* end = item.data() + item.size();
  int value = 0;
  if (equals == std::string::npos ||
      std::from_chars(item.data() + equals + 1, end, value) != std::from_chars_result{end, std::errc()}) {
    reject(item + ": a schedule is written kernel:TUNABLE=number,...,slices=number");
  }
  return {item.substr(0, equals), value};
}

void set(ScheduleRequest& request, const std::string& item) {
  const std::map<std::string, bool*> switches = {
      {"pack_a", &request.pack_a}, {"pack_b", &request.pack_b}, {"clustered", &request.clustered}};
  const auto [name, value] = parse_item(item);
  if (name == "slices") {
    request.splits = value;
  } else if (const auto found = switches.find(name); found != switches.end()) {
    if (value != 0 && value != 1) {
      reject(item + ": 0 or 1");
    }
    *found->second = value == 1;
  } else {
    request.tunables[name] = value;
  }
}

}  // namespace

bool may_split(const KernelSpec& spec, const Problem& problem) {
  return spec.family->splits_k() && problem.batch_by == BatchBy::strides &&
         (!problem.is_invariant() || problem.owed_splits() > 1);
}

bool may_pack(const KernelSpec& spec, const Problem& problem) {
  return spec.family->gains_from_packing() && problem.batch_by == BatchBy::strides && !problem.is_grouped();
}

std::string to_text(const Schedule& schedule) {
  std::string text = schedule.kernel->spec->name + " " + to_text(schedule.kernel->tunables);
  if (schedule.packs()) {
    text += schedule.pack_a && schedule.pack_b ? " after packing A and B"
            : schedule.pack_a                  ? " after packing A"
                                               : " after packing B";
  }
  if (schedule.splits > 1) {
    text += " in " + std::to_string(schedule.splits) + " slices of k";
    text += schedule.clustered ? " that clusters add up" : schedule.in_turn ? " in turn" : "";
  }
  return text;
}

ScheduleRequest parse_schedule(const std::string& text) {
  const std::size_t colon = text.find(':');
  ScheduleRequest request{&find_gemm_kernel(text.substr(0, colon))};
  std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string item = rest.substr(0, rest.find(','));
    rest = item.size() == rest.size() ? "" : rest.substr(item.size() + 1);
    set(request, item);
  }
  validate(request);
  return request;
}

void validate(const ScheduleRequest& request) {
  if (request.splits < 1 || (request.splits > 1 && !request.spec->family->splits_k())) {
    reject("slices=" + std::to_string(request.splits) +
           ": at least 1, and 1 for kernels that do not split k");
  }
}

Schedule schedule_for(const ScheduleRequest& request, const Problem& problem, const DeviceInfo& device) {
  require_possible(request, problem, device);
  Problem inner = packed(problem, request.pack_a, request.pack_b);
  if (request.splits > 1 && !request.clustered) {
    inner = partial_sums(*request.spec, inner, splits_of(request, problem));
  }
  const std::int64_t owed = problem.owed_splits();
  const bool in_turn = owed > request.splits;
  if (in_turn) {
    inner = turn_of(inner);
  }
  const Variant& kernel = request.spec->family->variant(*request.spec, request.tunables, inner);
  if (const auto reason = unsupported_reason(kernel, device)) {
    throw Error(Status::unsupported, *reason);
  }
  return {.kernel = &kernel,
          .splits = std::max(request.splits, owed),
          .clustered = request.clustered,
          .in_turn = in_turn,
          .pack_a = request.pack_a,
          .pack_b = request.pack_b};
}

Problem packed(const Problem& problem, bool pack_a, bool pack_b) {
  Problem p = problem;
  if (pack_a) {
    p.a_op = Transpose::no;
    p.lda = packed_ld(p.m);
    p.a_stride = p.a_stride == 0 ? 0 : count_elements("the packed A", {p.lda, p.k});
    p.a_aligned = p.a_padded = true;
  }
  if (pack_b) {
    p.b_op = Transpose::yes;
    p.ldb = packed_ld(p.n);
    p.b_stride = p.b_stride == 0 ? 0 : count_elements("the packed B", {p.ldb, p.k});
    p.b_aligned = p.b_padded = true;
  }
  return p;
}

Problem widened(const Problem& problem) {
  Problem p = problem;
  const bool may_share = p.batch_by == BatchBy::strides;
  if (is_narrow(p.a_type)) {
    p.lda = packed_ld(p.a_rows());
    p.a_stride = may_share && p.a_stride == 0 ? 0 : count_elements("A in FP32", {p.lda, p.a_cols()});
    p.a_aligned = p.a_padded = true;
  }
  if (is_narrow(p.b_type)) {
    p.ldb = packed_ld(p.b_rows());
    p.b_stride = may_share && p.b_stride == 0 ? 0 : count_elements("B in FP32", {p.ldb, p.b_cols()});
    p.b_aligned = p.b_padded = true;
  }
  return p;
}

Problem partial_sums(const KernelSpec& spec, const Problem& problem, std::int64_t splits) {
  Problem p = problem;
  p.ldc = partial_ld(spec, p);
  p.c_stride = count_elements("the partial sums of C", {splits, p.ldc, p.n});
  p.c_aligned = true;
  p.addend_apart = false;
  p.c_padded = spec.family->pads_partial_sums();
  return p;
}

Problem turn_of(const Problem& problem) {
  Problem p = problem;
  p.k = std::min(problem.k, everywhere_split);
  p.alpha = 1.0f;
  p.addend_apart = false;
  if (!problem.sums_in_c()) {
    p.ldc = p.m;
    p.c_stride = count_elements("the sums", {p.m, p.n});
    p.c_aligned = true;
  }
  return p;
}

std::int64_t split_length(const Variant& kernel, const Problem& problem, std::int64_t splits) {
  return problem.owed_splits() > 1
             ? everywhere_split
             : round_up(ceil_div(problem.k, splits), kernel.spec->family->split_multiple(kernel.tile));
}

}  // namespace duogemm
