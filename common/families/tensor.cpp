// The family of kernels that multiply the split terms of operands on tensor cores (kernels/gemm/tensor/):
// operands become split terms, these are multiplied, and a last step computes what they cannot hold.
#include "families/tensor.h"

#include <algorithm>
#include <set>

#include "families/kernel_parts.h"
#include "families/plan.h"
#include "problem/element_type.h"
#include "problem/problem.h"

namespace duogemm {
namespace {

constexpr std::int64_t panel_rows = PANEL;
constexpr std::size_t most_local_bytes = 227 * 1024;  // as compute capability 9.0 has
constexpr std::size_t other_local_bytes = 1024;       // beside the dynamic ones, at most

// No setting's tile has more rows: an operand A that serves all of them has whole tiles of these.
constexpr std::int64_t most_tile_rows = 256;

int terms_of(const Tunables& t) { return 2 + at(t, "BF16X6"); }

// A value of 16 bits is one term where a term has as many significant bits.
bool is_one_term(ElementType type, Precision precision) {
  return type == ElementType::bf16 || (type == ElementType::fp16 && precision == Precision::f16x3);
}

// Of a panel, in floats.
std::int64_t block_elements(const Tunables& t, std::int64_t terms) {
  return terms * panel_rows * at(t, "TSK") / 2;
}

OperandTerms layout(const char* what, const Tunables& t, const Problem& p, std::int64_t panels,
                    std::int64_t members, std::int64_t stride, const char* narrow) {
  OperandTerms result{
      panels, ceil_div(p.k, at(t, "TSK")), members, at(t, narrow) != 0 ? 1 : terms_of(t), 0, p.owes_terms()};
  if (p.batch_by == BatchBy::strides && stride == 0) {
    result.members = 1;
  }
  result.size =
      count_elements(what, {result.members, panels, result.blocks, block_elements(t, result.terms)});
  return result;
}

std::size_t bytes_of_stage(const Tunables& t) {
  const auto terms = [&](const char* narrow) { return value_or(t, narrow, 0) != 0 ? 1 : terms_of(t); };
  const std::int64_t floats = (block_elements(t, terms("NARROW_A")) * at(t, "TSM") +
                               block_elements(t, terms("NARROW_B")) * at(t, "TSN")) /
                              panel_rows;
  return sizeof(float) * static_cast<std::size_t>(floats);
}

// --- The steps of a product ------------------------------------------------------------------------------

const Variant& split_program(const Tunables& t, bool by_rows) {
  return program("split", {{"BF16X6", at(t, "BF16X6")},
                           {"TSK", at(t, "TSK")},
                           {"RESIDENT", at(t, "BF16X6") ? 3 : 2},
                           {"BY_ROWS", by_rows}});
}

// The program that computes what split terms cannot hold, for operands stored in this way.
const Variant& fixup_program(const Problem& problem) {
  const KernelSpec& stored_alike = find_kernel(problem.is_grouped() ? "grouped" : "pipelined");
  return program("fixup", fixed_tunables(stored_alike, problem).value());
}

// Kernels ask by this whether a product is grouped.
std::int64_t tiles_offset(const Problem& p) { return p.is_grouped() ? 0 : -1; }

// An operand's terms, and where they are put.
struct SplitResult {
  OperandTerms terms;
  Operand to;
};

// A work-group loads a block while it splits another, as long as all blocks leave three work-groups for each
// compute unit, which has room for two or three. More than four blocks gain nothing.
std::int64_t blocks_of_group(std::int64_t blocks, const DeviceInfo& device) {
  const auto units = static_cast<std::int64_t>(std::max<std::size_t>(device.compute_units, 1));
  return std::clamp<std::int64_t>(blocks / (3 * units), 1, 4);
}

// What a split's step works on besides operands: counters of tiles, which it sets to zero, and the tiles of a
// grouped product.
struct TilesOfProduct {
  Operand counters_at;
  std::int64_t counters;
  Operand groups;
};

// Splits A and B, or one of them, where the other has no terms.
void add_split_step(Plan& plan, const Tunables& setting, const Problem& p, const SplitResult& a,
                    const SplitResult& b, const TilesOfProduct& tiles, const DeviceInfo& device) {
  const bool by_rows = a.terms.by_rows || b.terms.by_rows;
  const Variant& kernel = split_program(setting, by_rows);
  const std::int64_t panels = a.terms.panels + b.terms.panels;
  const std::int64_t blocks = std::max(a.terms.blocks, b.terms.blocks);
  const std::int64_t each = by_rows ? blocks : blocks_of_group(panels * blocks, device);
  Geometry geometry = kernel.spec->geometry(panels * panel_rows, ceil_div(blocks, each), kernel.tunables);
  geometry.groups[1] =
      std::min(static_cast<std::size_t>(std::max(a.terms.members, b.terms.members)), device.max_groups[1]);
  const StepMatrix of_a = matrix_a(p), of_b = matrix_b(p);
  const auto operand = [](std::int64_t rows, const StepMatrix& matrix, ElementType type, bool along_k,
                          const OperandTerms& terms) {
    return SplitOperand{
        rows,          matrix.layout, static_cast<std::int64_t>(type), along_k, 0, terms.panels,
        terms.members, terms.terms};
  };
  const SplitArguments split{p.k,
                             each,
                             operand(p.m, of_a, p.a_type, p.a_op == Transpose::yes, a.terms),
                             operand(p.n, of_b, p.b_type, p.b_op == Transpose::no, b.terms),
                             0,
                             tiles.counters,
                             tiles_offset(p)};
  const auto sizes = struct_argument(split, {{&split.a.x.offset, of_a.operand},
                                             {&split.a.y_offset, a.to},
                                             {&split.b.x.offset, of_b.operand},
                                             {&split.b.y_offset, b.to},
                                             {&split.counters_offset, tiles.counters_at},
                                             {&split.tiles_offset, tiles.groups}});
  add_step(plan, kernel, geometry,
           {sizes, of_a.operand, of_a.table, a.to, of_b.operand, of_b.table, b.to, tiles.counters_at,
            tiles.groups},
           device);
}

// Where they have different numbers of matrices, each operand has a step of its own: else most work-groups of
// the one with fewer would have none.
void add_split(Plan& plan, const Tunables& setting, const Problem& p, const SplitResult& a,
               const SplitResult& b, const TilesOfProduct& tiles, const DeviceInfo& device) {
  if (a.terms.members != b.terms.members && a.terms.members > 0 && b.terms.members > 0) {
    add_split_step(plan, setting, p, a, {{}, b.to}, tiles, device);
    add_split_step(plan, setting, p, {{}, a.to}, b, {tiles.counters_at, 0, tiles.groups}, device);
  } else {
    add_split_step(plan, setting, p, a, b, tiles, device);
  }
}

class Steps {
 public:
  Steps(const Schedule& schedule, const Problem& problem, const DeviceInfo& device)
      : kernel_(*schedule.kernel), p_(problem), device_(device) {
    // As many splits as have something to do.
    splits_ = ceil_div(a_.blocks, ceil_div(a_.blocks, schedule.splits));
    const std::size_t tiles = kernel_.spec->geometry(p_.m, columns_, kernel_.tunables).groups[0];
    clustered_ = schedule.clustered && splits_ > 1 &&
                 tiles <= device.max_groups[0] / static_cast<std::size_t>(p_.batch);
  }

  Plan plan() {
    const SplitsLayout layout = splits_layout(kernel_.tunables, p_, clustered_ ? 1 : splits_);
    plan_.scalars = {p_.alpha, p_.beta};
    terms_a_ = p_.a_prepared ? operand_prepared_a : add_workspace(plan_, a_.elements(), {}).operand;
    terms_b_ = p_.b_prepared ? operand_prepared_b : add_workspace(plan_, b_.elements(), {}).operand;
    // A kernel that gets a workspace which it does not use gets one all the same.
    sums_ = add_workspace(plan_, std::max<std::int64_t>(layout.elements, 1), {}).operand;
    group_tiles_ = add_group_tiles(plan_, p_, panel_rows, device_);
    add_split(plan_, kernel_.tunables, p_, {p_.a_prepared ? OperandTerms{} : a_, terms_a_},
              {p_.b_prepared ? OperandTerms{} : b_, terms_b_}, {sums_, layout.counters, group_tiles_},
              device_);
    plan_.multiply = plan_.steps.size();
    add_product();
    add_fixup();
    return std::move(plan_);
  }

 private:
  static TermsLayout layout_of(const OperandTerms& terms, std::int64_t offset = 0) {
    return {offset, terms.panels, terms.members};
  }

  std::size_t room_for(const Variant& kernel) const {
    return std::max<std::size_t>(device_.compute_units, 1) * static_cast<std::size_t>(kernel.surely_resident);
  }

  // Work-groups of clusters have a split of one tile each. Others, as many as there is room for, walk over
  // all.
  Geometry product_geometry() const {
    Geometry geometry = kernel_.spec->geometry(p_.m, columns_, kernel_.tunables);
    if (clustered_) {
      geometry.groups[0] *= static_cast<std::size_t>(p_.batch);
      geometry.groups[2] = geometry.cluster = static_cast<std::size_t>(splits_);
      return geometry;
    }
    const std::size_t room = room_for(kernel_);
    for (const std::int64_t times : {splits_, p_.batch}) {  // a product that cannot overflow
      geometry.groups[0] =
          std::min(geometry.groups[0], room) * std::min(static_cast<std::size_t>(times), room);
    }
    geometry.groups[0] = std::min(geometry.groups[0], room);
    return geometry;
  }

  void add_product() {
    // Tiles of that many rows of C are rasterised before those of the next rows. On an H100 and an H200, 4
    // tiles of 256 rows were up to 3 percent faster than 8 for 8192 and 16384 rows.
    constexpr std::int64_t rasterised_rows = 1024;
    TensorArguments product{};
    product.M = p_.m;
    product.N = columns_;
    product.K = p_.k;
    product.a = layout_of(a_);
    product.b = layout_of(b_);
    product.c = c_.layout;
    product.d = d_.layout;
    product.batch = p_.batch;
    product.tiles_offset = tiles_offset(p_);
    product.k_splits = static_cast<int>(splits_);
    product.clustered = clustered_ ? 1 : 0;
    product.group_m =
        static_cast<int>(std::min(rasterised_rows / kernel_.tile.m, ceil_div(p_.m, kernel_.tile.m)));
    product.by_rows = a_.by_rows ? 1 : 0;
    add_step(plan_, kernel_, product_geometry(),
             {struct_argument(product,
                              {{&product.a.offset, terms_a_},
                               {&product.b.offset, terms_b_},
                               {&product.c.offset, c_.operand},
                               {&product.d.offset, d_.operand},
                               {&product.w_offset, sums_},
                               {&product.tiles_offset, group_tiles_}},
                              {{&product.alpha, ScalarOf::alpha}, {&product.beta, ScalarOf::beta}}),
              terms_a_, terms_b_, c_.operand, c_.table, d_.operand, d_.table, sums_, group_tiles_},
             device_);
  }

  // As many work-groups as there is room for walk over all tiles, because each looks through all scales
  // first.
  void add_fixup() {
    const Variant& kernel = fixup_program(wide_);
    Geometry geometry = kernel.spec->geometry(p_.m, columns_, kernel.tunables);
    const std::size_t room = room_for(kernel);
    geometry.groups[0] = std::min(geometry.groups[0], room);
    geometry.groups[1] = std::min(static_cast<std::size_t>(p_.batch), room / geometry.groups[0]);
    FixupArguments fixup{};
    fixup.product = sizes_of(p_);
    fixup.tiles_offset = tiles_offset(p_);
    fixup.product.N = columns_;
    const Operand wide_a = add_wide(matrix_a(wide_), p_.a_type, p_.a_cols(), p_.members_of_a());
    const Operand wide_b = add_wide(matrix_b(wide_), p_.b_type, p_.b_cols(), p_.batch);
    fixup.product.a = matrix_a(wide_).layout;
    fixup.product.b = matrix_b(wide_).layout;
    fixup.a = {of_a_.layout, static_cast<std::int64_t>(p_.a_type)};
    fixup.b = {of_b_.layout, static_cast<std::int64_t>(p_.b_type)};
    const auto multiplied = [](Operand wide, const StepMatrix& as_given) {
      return wide == operand_none ? as_given.operand : wide;
    };
    fixup.product.c = c_.layout;
    fixup.product.d = d_.layout;
    order_tiles(fixup.product, p_, at(kernel.tunables, "TSM"));
    fixup.by_rows = a_.by_rows ? 1 : 0;
    fixup.a_scales = layout_of(a_, a_.by_rows ? a_.row_scales() : a_.size);
    fixup.b_scales = layout_of(b_, b_.by_rows ? b_.row_scales() : b_.size);
    fixup.a_panels_in_tile = ceil_div(kernel_.tile.m, PANEL);
    fixup.blocks = a_.by_rows ? panel_rows : a_.blocks;
    add_step(
        plan_, kernel, geometry,
        {struct_argument(fixup,
                         {{&fixup.product.a.offset, multiplied(wide_a, of_a_)},
                          {&fixup.product.b.offset, multiplied(wide_b, of_b_)},
                          {&fixup.a.x.offset, of_a_.operand},
                          {&fixup.b.x.offset, of_b_.operand},
                          {&fixup.product.c.offset, c_.operand},
                          {&fixup.product.d.offset, d_.operand},
                          {&fixup.a_scales.offset, terms_a_},
                          {&fixup.b_scales.offset, terms_b_},
                          {&fixup.tiles_offset, group_tiles_}},
                         {{&fixup.product.alpha, ScalarOf::alpha}, {&fixup.product.beta, ScalarOf::beta}}),
         of_a_.operand, of_a_.table, wide_a, of_b_.operand, of_b_.table, wide_b, c_.operand, c_.table,
         d_.operand, d_.table, terms_a_, terms_b_, group_tiles_},
        device_);
  }

  // Where the fix-up may copy an operand of 16-bit elements to.
  Operand add_wide(const StepMatrix& wide, ElementType type, std::int64_t cols, std::int64_t members) {
    return is_narrow(type)
               ? add_workspace_for_copies(plan_, "an operand in FP32", wide.layout, cols, members).operand
               : operand_none;
  }

  const Variant& kernel_;
  const Problem& p_;
  const DeviceInfo& device_;
  const Problem wide_ = widened(p_);
  const OperandTerms a_ = terms_of_a(kernel_.tunables, p_), b_ = terms_of_b(kernel_.tunables, p_);
  const StepMatrix of_a_ = matrix_a(p_), of_b_ = matrix_b(p_), c_ = matrix_c(p_), d_ = matrix_d(p_);
  std::int64_t splits_;
  bool clustered_;
  Plan plan_;
  const std::int64_t columns_ = columns_of_tiles(p_, panel_rows);
  Operand terms_a_ = operand_none, terms_b_ = operand_none, sums_ = operand_none;
  Operand group_tiles_ = operand_none;
};

// --- The step that prepares an operand -------------------------------------------------------------------

// What all settings for a problem have in common.
Tunables setting_for(const Problem& p) {
  const auto fixed = fixed_tunables(find_kernel("tensor"), p);
  if (!fixed) {
    throw Error(Status::unsupported, "k of at most " + std::to_string(longest_int_k) +
                                         " where an operand is prepared; it is " + std::to_string(p.k));
  }
  return *fixed;
}

OperandTerms prepared_terms(const Problem& p) {
  const Tunables setting = setting_for(p);
  return p.a_prepared ? terms_of_a(setting, p) : terms_of_b(setting, p);
}

// --- The family ------------------------------------------------------------------------------------------

// Those that compute what split terms cannot hold, for each way in which operands may be stored.
const std::vector<const Variant*>& all_fixups() {
  static const auto& fixups = *new auto([] {
    std::set<const Variant*> all;
    for (int i = 0; i < 16; ++i) {
      Problem problem = Problem::packed(128, 128, 128);
      problem.a_op = i % 2 == 0 ? Transpose::no : Transpose::yes;
      problem.b_op = i / 2 % 2 == 0 ? Transpose::no : Transpose::yes;
      problem.a_aligned = i / 4 % 2 == 0;
      problem.b_aligned = i / 8 == 0;
      all.insert(&fixup_program(problem));
    }
    return std::vector(all.begin(), all.end());
  }());
  return fixups;
}

std::vector<Tunables> all_storages() {
  std::vector<Tunables> storages;
  for (const Tunables& terms : {Tunables{{"BF16X6", 0}, {"TSK", 64}}, Tunables{{"BF16X6", 1}, {"TSK", 32}}}) {
    for (Tunables storage : every({{"NARROW_A", {0, 1}}, {"NARROW_B", {0, 1}}})) {
      storage.insert(terms.begin(), terms.end());
      storages.push_back(std::move(storage));
    }
  }
  return storages;
}

class Tensor : public Family {
 public:
  Tensor() : Family(all_storages(), {"NARROW_A", "NARROW_B"}) {}
  // How many terms the values of each operand are.
  int storage_of(const Problem& p) const override {
    if (p.precision == Precision::fp32 || p.k > longest_int_k) {
      return -1;
    }
    return (is_one_term(p.a_type, p.precision) ? 1 : 0) + (is_one_term(p.b_type, p.precision) ? 2 : 0) +
           (p.precision == Precision::bf16x6 ? 4 : 0);
  }
  bool reads_narrow() const override { return true; }
  bool takes_groups() const override { return true; }
  bool multiplies_in(Precision precision) const override { return precision != Precision::fp32; }
  // A user says by the precision which it is, or by the tunables where there is no problem.
  bool decides(std::string_view) const override { return false; }
  Multiples tile(const Tunables& t) const override { return {at(t, "TSM"), at(t, "TSN"), at(t, "TSK")}; }
  bool reorders(const Tunables&) const override { return true; }
  bool splits_k() const override { return true; }
  bool adds_in_last_group() const override { return true; }
  bool writes_by_itself() const override { return true; }

  Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) const override {
    return Steps(schedule, problem, device).plan();
  }
  std::vector<const Variant*> companions(const Variant& kernel) const override {
    std::vector<const Variant*> programs = all_fixups();
    programs.push_back(&split_program(kernel.tunables, false));
    programs.push_back(&split_program(kernel.tunables, true));
    programs.push_back(&program("group_tiles"));
    return programs;
  }
};

// Multiply-adds of FP16 or BF16 that tensor cores of a compute unit add up in FP32 in one cycle: NVIDIA's for
// data centres do twice what the others of their time do.
double tensor_lanes(int compute_capability) {
  const bool for_data_centres =
      compute_capability == 80 || compute_capability == 90 || compute_capability / 10 == 10;
  return for_data_centres ? 1024.0 : 512.0;
}

class TensorMma : public Tensor {
 public:
  bool adds_in_clusters() const override { return false; }
  bool writes_by_itself() const override { return false; }  // several share a compute unit

  std::vector<Calibration> calculated(const KernelSpec& spec, const UnmeasuredGpu& gpu) const override {
    constexpr double reached = 0.65;  // of what tensor cores can do
    const double rate = reached * tensor_lanes(gpu.device.compute_capability) * gpu.clock;
    std::vector<Calibration> calibrations;
    for (const std::size_t first_of_precision : {0, 4}) {  // which holds for the others, too
      const Storage& storage = storages()[first_of_precision];
      const bool in_f16 = at(storage.fixed, "BF16X6") == 0;
      // A tile that fills a unit by itself, and one that does in pairs or threes: FP16 takes more registers.
      for (const auto& [columns, most_resident] : {std::pair(128, 1), {64, in_f16 ? 2 : 3}}) {
        const auto tile = fitting_tile(spec, storage, columns, most_resident, gpu.device);
        if (tile && !unsupported_reason(spec, *tile, gpu.device)) {
          const Variant& kernel = variant_of(spec, *tile);
          const double products = in_f16 ? 3.0 : 6.0;
          calibrations.push_back(gpu.calibration(
              kernel, 4, products * static_cast<double>(kernel.tile.m * kernel.tile.n), rate));
        }
      }
    }
    return calibrations;
  }

 private:
  // As many stages as there is room for; with fewer work-groups on a unit where there is none for that many.
  static std::optional<Tunables> fitting_tile(const KernelSpec& spec, const Storage& storage, int columns,
                                              int most_resident, const DeviceInfo& device) {
    for (int resident = most_resident; resident > 0; --resident) {
      for (const int stages : {4, 3, 2}) {
        Tunables tile = {
            {"TSM", 128}, {"TSN", columns}, {"WARP_N", 64}, {"STAGES", stages}, {"RESIDENT", resident}};
        tile.insert(storage.fixed.begin(), storage.fixed.end());
        const auto all = static_cast<std::size_t>(resident);
        if (keeps_rules(spec, tile) && all * spec.local_bytes(tile) <= device.dynamic_local_bytes) {
          return tile;
        }
      }
    }
    return std::nullopt;
  }
};

int work_items_of_split(const Tunables& t) {
  constexpr int values = 16;  // of each
  return PANEL * at(t, "TSK") / values;
}

KernelSpec split() {
  KernelSpec spec{.name = "split", .path = "gemm/tensor/split.cl", .idea = "split terms for tensor cores"};
  // For that many rows of operands, each in so many parts along k.
  spec.geometry = [](std::int64_t rows, std::int64_t parts, const Tunables& t) {
    const int of_group = at(t, "BY_ROWS") != 0 ? STRIP_ROWS : PANEL;
    return tiles_in_line(rows, of_group, parts, 1, work_items_of_split(t));
  };
  spec.local_bytes = [](const Tunables& t) {
    constexpr std::size_t others = 128;
    return sizeof(float) * static_cast<std::size_t>(work_items_of_split(t)) + others;
  };
  return spec;
}

// One work-group for each tile; lower() starts as many as the device has room for, at most.
KernelSpec multiplying_terms(KernelSpec spec, int (*work_items)(const Tunables&),
                             std::size_t (*dynamic_local_bytes)(const Tunables&),
                             std::shared_ptr<const Family> family) {
  spec.geometry = [=](std::int64_t m, std::int64_t n, const Tunables& t) {
    Geometry geometry = tiles_in_line(m, at(t, "TSM"), n, at(t, "TSN"), work_items(t));
    geometry.dynamic_local_bytes = dynamic_local_bytes(t);
    return geometry;
  };
  spec.local_bytes = [=](const Tunables& t) { return dynamic_local_bytes(t) + other_local_bytes; };
  spec.family = std::move(family);
  return spec;
}

KernelSpec tensor() {
  static constexpr int consumers = 256;  // as in the kernel
  // The stages, and what sub-groups exchange.
  const auto local_bytes = [](const Tunables& t) {
    constexpr std::size_t exchange = consumers / 32 * sizeof(float) * EXCHANGED;
    static_assert(ROOM_FOR_STAGES + exchange + other_local_bytes <= most_local_bytes);
    return ROOM_FOR_STAGES / bytes_of_stage(t) * bytes_of_stage(t) + exchange;
  };
  KernelSpec spec = multiplying_terms(
      {.name = "tensor", .path = "gemm/tensor/tensor.cl", .idea = "FP32 in split terms on tensor cores"},
      [](const Tunables&) { return consumers + 128; }, local_bytes, std::make_shared<Tensor>());
  // Two stages have room for the sums of a tile, too.
  spec.rules = {
      {"room for two stages", [](const Tunables& t) { return ROOM_FOR_STAGES / bytes_of_stage(t) >= 2; }}};
  return spec;
}

int sub_groups(const Tunables& t) {
  constexpr int rows = 32;  // of each
  return at(t, "TSM") / rows * (at(t, "TSN") / at(t, "WARP_N"));
}

KernelSpec tensor_mma() {
  const auto local_bytes = [](const Tunables& t) {
    return bytes_of_stage(t) * static_cast<std::size_t>(at(t, "STAGES"));
  };
  KernelSpec spec = multiplying_terms(
      {.name = "tensor_mma",
       .path = "gemm/tensor/tensor_mma.cl",
       .idea = "FP32 in split terms on tensor cores, by mma.sync"},
      [](const Tunables& t) { return 32 * sub_groups(t); }, local_bytes, std::make_shared<TensorMma>());
  spec.rules = {{"at most 227 KiB of local memory",
                 [=](const Tunables& t) { return local_bytes(t) + other_local_bytes <= most_local_bytes; }},
                {"4 or 8 blocks of 32 x WARP_N in the tile",
                 [](const Tunables& t) { return sub_groups(t) == 4 || sub_groups(t) == 8; }}};
  return spec;
}

KernelSpec fixup() {
  return with_stages_of_tiles(
      {.name = "fixup", .path = "gemm/tensor/fixup.cl", .idea = "what terms cannot hold, in FP32"});
}

}  // namespace

std::int64_t OperandTerms::elements() const {
  return row_scales() +
         (by_rows ? count_elements("the scales of an operand's rows", {members, panels, panel_rows}) : 0);
}

std::int64_t OperandTerms::row_scales() const {
  return count_elements("the terms of an operand", {members, panels, blocks}) + size;
}

OperandTerms terms_of_a(const Tunables& t, const Problem& p) {
  const std::int64_t rows = p.a_prepared ? most_tile_rows : std::max<std::int64_t>(at(t, "TSM"), panel_rows);
  return layout("the terms of A", t, p, ceil_div(p.m, rows) * (rows / panel_rows), p.members_of_a(),
                p.a_stride, "NARROW_A");
}

OperandTerms terms_of_b(const Tunables& t, const Problem& p) {
  return layout("the terms of B", t, p, ceil_div(columns_of_tiles(p, panel_rows), panel_rows), p.batch,
                p.b_stride, "NARROW_B");
}

std::size_t prepared_bytes(const Problem& problem) {
  return sizeof(float) * static_cast<std::size_t>(prepared_terms(problem).elements());
}

void require_tensor_kernels(const DeviceInfo& device) {
  if (tensor_kernels_for(device).empty()) {
    const KernelSpec& least_demanding = find_kernel("tensor_mma");
    throw Error(Status::unsupported,
                "tensor cores, which an operand is prepared for, of " +
                    unsupported_reason(least_demanding, resolve(least_demanding, {}), device).value());
  }
}

Plan plan_preparation(const Problem& p, const DeviceInfo& device) {
  require_tensor_kernels(device);
  Plan plan;
  const OperandTerms terms = prepared_terms(p);
  if (terms.size > 0) {
    add_split(plan, setting_for(p), p, {p.a_prepared ? terms : OperandTerms{}, operand_prepared_a},
              {p.b_prepared ? terms : OperandTerms{}, operand_prepared_b}, {operand_none, 0, operand_none},
              device);
  }
  return plan;
}

SplitsLayout splits_layout(const Tunables& t, const Problem& p, std::int64_t splits) {
  if (splits == 1) {
    return {0, 0};
  }
  constexpr std::int64_t line = 32;  // of counters
  const std::int64_t tiles = count_elements(
      "the tiles of C",
      {ceil_div(p.m, at(t, "TSM")), ceil_div(columns_of_tiles(p, panel_rows), at(t, "TSN")), p.batch});
  const std::int64_t counters = round_up(tiles, line);
  return {counters,
          counters + count_elements("the partial sums of C", {tiles, splits, at(t, "TSM") * at(t, "TSN")})};
}

std::vector<const KernelSpec*> tensor_kernels_for(const DeviceInfo& device) {
  std::vector<const KernelSpec*> kernels;
  for (const KernelSpec& spec : registry()) {
    if (spec.family && !spec.family->multiplies_in(Precision::fp32) &&
        !unsupported_reason(spec, resolve(spec, {}), device)) {
      kernels.push_back(&spec);
    }
  }
  return kernels;
}

std::vector<KernelSpec> tensor_kernels() { return {split(), tensor(), tensor_mma(), fixup()}; }

}  // namespace duogemm
