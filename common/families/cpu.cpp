// The family of kernels for CPUs (kernels/gemm/cpu/): a work-group has a core to itself, and computes a tile
// of C in blocks that fill the core's registers.
#include "families/cpu.h"

#include <algorithm>
#include <utility>

#include "families/kernel_parts.h"
#include "families/kernel_source.h"
#include "families/kernel_spec.h"
#include "families/plan.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

// --- Registers, caches and tiles -------------------------------------------------------------------------

// Rows and columns of C per work-group; the last ones of a problem may be smaller.
struct CpuTile {
  std::int64_t m;
  std::int64_t n;
};

// Floats that a core's own cache has; a device that does not tell has what CPUs have at least.
std::size_t cached_floats(const DeviceInfo& device) {
  return (device.core_cache_bytes != 0 ? device.core_cache_bytes : 256 << 10) / sizeof(float);
}

// Costs are in fused multiply-adds of one vector.
constexpr double transposed_element = 0.6;  // to pack an element where neighbours have to change places
constexpr double direct_vector = 3.0;       // to pack a vector of neighbours
constexpr double work_group = 500.0;
constexpr double shared_line = 300.0;  // to write to a cache line that another core writes to

constexpr std::int64_t any_length = 1 << 30;  // the most that a kernel is told of a tile

constexpr std::size_t gap_after_b_panel = 16;  // floats, in `cpu_panels` (see GAP there)

// Multiply-adds that a core does in a second for each float of its vectors, and bytes that it reads from the
// last cache (two AVX-512 cores, Zen 4 and 5) and writes to it (Zen 3). Only the choice between ways that
// take the same time depends on them.
constexpr double of_lane = 5e9;
constexpr double of_cache = 8e10;
constexpr double to_cache = 4e10;

// Counts C's tiles in a double, because those of the largest problems are more than 64 bits count.
double tiles_of(const Problem& problem, const CpuTile& tile) {
  return static_cast<double>(ceil_div(problem.m, tile.m)) * static_cast<double>(ceil_div(problem.n, tile.n)) *
         static_cast<double>(problem.batch);
}

// The largest tile that a work-group may have, the rows that a vector has of it, and whether the group copies
// operands, which pays for large tiles alone.
struct LargestTile {
  CpuTile tile;
  std::int64_t rows;
  bool copies;
};

// A core gets four small tiles in place of a single one: a core that wakes up late, or that others use as
// well, then computes fewer of them. Only for kernels that pack nothing, for which small tiles cost next to
// nothing.
CpuTile in_shares(const CpuTile& tile, const Problem& problem, std::int64_t rows, std::int64_t cols,
                  std::int64_t cores) {
  constexpr std::int64_t shares = 4;
  if (cores == 1 || tiles_of(problem, tile) > static_cast<double>(cores)) {
    return tile;
  }
  if (tile.n >= shares * cols) {
    return {tile.m, round_up(ceil_div(tile.n, shares), cols)};
  }
  return {std::min(round_up(ceil_div(tile.m, shares), rows), tile.m), tile.n};
}

// The tile that every core gets as much of as can be, in as few multiply-adds.
CpuTile tile_of(const Problem& problem, const Tunables& blocks, const LargestTile& most,
                const DeviceInfo& device) {
  const std::int64_t cols = blocks.at("COLS");
  const auto cores = static_cast<std::int64_t>(cores_for(problem, device));
  const double element =
      problem.a_op == Transpose::yes ? transposed_element : direct_vector / static_cast<double>(most.rows);
  // A core's work-groups take that many multiply-adds of one vector for each k.
  const auto cost = [&](const CpuTile& tile) {
    const double products =
        static_cast<double>(ceil_div(tile.m, most.rows)) * static_cast<double>(round_up(tile.n, cols));
    // Where a tile ends within a column of C, or a row if C is stored by rows, the next tile goes on in the
    // line.
    const bool by_rows = blocks.at("ROWS_C") == 1;
    const bool shares = cores > 1 && (by_rows ? tile.n < problem.n : tile.m < problem.m);
    const double lines = !shares ? 0.0 : static_cast<double>(by_rows ? tile.m : tile.n);
    return whole_up(tiles_of(problem, tile) / static_cast<double>(cores)) *
           (products + static_cast<double>(tile.m) * element +
            (work_group + lines * shared_line) / static_cast<double>(problem.k));
  };
  const std::int64_t fewest_m = ceil_div(problem.m, most.tile.m);
  const std::int64_t fewest_n = ceil_div(problem.n, most.tile.n);
  CpuTile best = most.tile;
  double least = cost(best);
  for (std::int64_t i = fewest_m; i <= fewest_m + cores; ++i) {
    for (std::int64_t j = fewest_n; j <= fewest_n + cores; ++j) {
      const CpuTile tile{std::min(round_up(ceil_div(problem.m, i), most.rows), most.tile.m),
                         std::min(round_up(ceil_div(problem.n, j), cols), most.tile.n)};
      if (const double taken = cost(tile); taken < least) {
        least = taken;
        best = tile;
      }
    }
  }
  return most.copies ? best : in_shares(best, problem, blocks.at("VECTORS") * most.rows, cols, cores);
}

// Picks the largest value of a tunable that is a multiple of `unit` up to `limit`, or else the smallest.
int largest(const std::string& name, std::int64_t unit, std::size_t limit) {
  static const std::vector<TunableDeclaration>& declared =
      load_kernel(find_kernel("cpu_panels").path).tunables;
  const auto tunable = std::find_if(declared.begin(), declared.end(),
                                    [&](const TunableDeclaration& t) { return t.name == name; });
  int best = 0;
  for (const int value : tunable->allowed) {
    if (value % unit == 0 && (best == 0 || static_cast<std::size_t>(value) <= limit)) {
      best = value;
    }
  }
  return best;
}

// Whether C is a row without gaps, which is a column as well.
bool is_one_vector(const Problem& p) {
  return p.m == 1 && p.ldc == 1 && (!p.addend_apart || p.addend_ld == 1);
}

// Vectors stand along the longer side of a C that is narrower than a vector, unless A alone is stored in
// vectors, which then stay along m. Where both operands are, sums must be long enough to pay for the writes:
// those of a vector of C take as long as a multiply-add for each of its values, while vectors along m load a
// value of B for each multiply-add. Where both operands are stored transposed, the transpose of C is a
// product of what is stored: if C is not more than both are, and has at most twice as many vectors then, it
// alone changes places.
bool by_rows(const Problem& p, const Tunables& tunables) {
  if (is_one_vector(p)) {
    return true;
  }
  const std::int64_t width = tunables.at("WIDTH");
  const bool narrow = p.m < width && p.m < p.n;
  if (p.b_op == Transpose::no) {
    return narrow && p.a_op == Transpose::yes;
  }
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const auto lanes = static_cast<double>(width), vectors = static_cast<double>(ceil_div(p.n, width));
  if (p.a_op == Transpose::no) {
    constexpr double loading = 1.2;  // multiply-adds that one takes with a load of its own
    constexpr double written = 2.0;  // that the writes of a column take
    return narrow && vectors * m * (k + lanes) < n * (loading * k + written);
  }
  const bool fills_vectors = vectors * m <= 2.0 * static_cast<double>(ceil_div(p.m, width)) * n;
  return narrow || (fills_vectors && k > m * n / (m + n));
}

// A problem is better computed from the operands as they stand where C, and what is read again, stay in a
// core's own cache. Few rows or columns do not have to: a group reads them once. So 400 fresh problems of
// python/measure/cpu_kernels.py took 1.03 times as long as by the faster kernel on one core of a Xeon with
// AVX-512, and 1.04 times on two. Columns of A that are whole pages apart compete for the same few lines of
// the first cache, because a page is as long as one of its ways. Packed, 40 random updates of rank 16 to 256
// within a matrix of 2048 rows took 0.90 of the time on one core and 0.88 on two (Zen 5, AVX-512), and those
// of an LU factorisation 0.94 and 0.92.
bool reads_in_place(const Problem& p, const DeviceInfo& device, const Tunables& registers) {
  constexpr std::int64_t narrow = 4;
  if (p.a_op == Transpose::yes) {
    return p.n <= narrow;
  }
  const std::int64_t rows = registers.at("VECTORS") * registers.at("WIDTH");
  constexpr std::int64_t page = 4096 / sizeof(float);
  if (p.m > 2 * rows && p.lda % page == 0) {
    return false;
  }
  const auto cached = static_cast<std::int64_t>(cached_floats(device));
  const auto fits = [&](std::int64_t lines) { return lines <= rows || lines * p.k <= cached; };
  return fits(p.m) && (p.b_op == Transpose::no || fits(p.n)) && p.m * p.n <= cached;
}

// --- Which kernel, without any measurement ---------------------------------------------------------------

// A kernel of no way, as a new one is at first, is taken only where it was measured to be the fastest.
enum class Way { direct, panels, dots, none };

// Where `cpu_dots` copies rows of A: floats from one to the next, and its ROOM for them (see STRIDE and ROOM
// there).
constexpr std::int64_t largest_room = 131072;
std::int64_t dots_stride(std::int64_t k) { return round_up(k, 16) + 16; }
int dots_room(const Problem& p) {
  constexpr int smallest = 8192;
  constexpr std::int64_t few = 16;  // of more rows, a tile has what there is room for
  return p.a_op == Transpose::yes || std::min(p.m, few) <= smallest / dots_stride(p.k) ? smallest
                                                                                       : largest_room;
}

bool dots_by_rows(const Problem& p) {
  return p.a_op == Transpose::yes && (p.b_op == Transpose::yes || p.m < p.n);
}

// Whether k is side by side in both operands, or can be made so in few rows of A.
bool has_dots(const Problem& given) {
  const Problem p = dots_by_rows(given) ? transposed(given) : given;
  return p.b_op == Transpose::no && (p.a_op == Transpose::yes || dots_stride(p.k) <= largest_room);
}

// Whether dot products take less time than panels where A is stored transposed, or than operands as they
// stand where rows of A, whose lanes of a vector are few, are copied.
bool has_long_dots(const Problem& given, const DeviceInfo& device, std::int64_t width) {
  constexpr std::int64_t block = 4;  // rows, and columns
  constexpr std::int64_t few = 32;   // columns of B, which are read again for other rows
  constexpr double loads = 1.25;     // of a single vector of A and its B, in the time of their multiply-adds
  constexpr double element_of_dots = 7;  // to add up a vector's elements, and to write one
  constexpr double element_copied = 2;   // to where k is side by side
  constexpr double panels_begun = 150;
  if (!has_dots(given)) {
    return false;
  }
  const Problem p = dots_by_rows(given) ? transposed(given) : given;
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const double dots = m * n * (k / static_cast<double>(width) + element_of_dots);
  const double vectors = static_cast<double>(ceil_div(p.m, width)) * n * k;
  if (p.a_op == Transpose::yes) {
    const auto cached = static_cast<std::int64_t>(cached_floats(device));
    return p.n <= few && (p.n <= block || p.k <= cached / (2 * block)) &&
           dots < vectors + m * k * transposed_element + panels_begun;
  }
  const std::int64_t room = dots_room(p);
  return p.m < width && p.m <= room / dots_stride(p.k) &&
         static_cast<std::size_t>(room) * sizeof(float) <= device.local_bytes &&
         dots + m * k * element_copied < loads * vectors;
}

Way fastest_way(const Problem& problem, const DeviceInfo& device, const Tunables& registers) {
  const Problem given = vectors_along_k(problem);
  if (given.level == Reproducibility::run_to_run && has_long_dots(given, device, registers.at("WIDTH"))) {
    return Way::dots;
  }
  const Problem p = by_rows(given, registers) ? transposed(given) : given;
  return reads_in_place(p, device, registers) ? Way::direct : Way::panels;
}

class Cpu : public Family {
 public:
  explicit Cpu(Way way,
               const std::vector<Tunables>& fixed = every({{"TRANS_A", {0, 1}}, {"TRANS_B", {0, 1}}}))
      : Family(fixed), way_(way) {}

  bool runs_on(DeviceKind kind) const override { return kind == DeviceKind::cpu; }
  int storage_of(const Problem& p) const override { return transposes(p); }
  // A plan stores C by rows where that is faster.
  bool decides(std::string_view tunable) const override {
    return tunable == "ROWS_C" || Family::decides(tunable);
  }

  // The tunables that are asked for, as far as they fit the problem.
  const Variant& variant(const KernelSpec& spec, const Tunables& asked,
                         const Problem& problem) const override {
    Tunables set = resolve(spec, asked);
    const Problem given = vectors_along_k(problem);
    const bool rows = stores_by_rows(given, set);
    const Problem p = rows ? transposed(given) : given;
    set["ROWS_C"] = rows && !is_one_vector(given);
    fit(set, p);
    return Family::variant(spec, set, p);
  }
  std::optional<Tunables> unmeasured(const Problem& problem, const DeviceInfo& device,
                                     const Tunables& measured) const override {
    const Tunables registers = cpu_registers(device, measured);
    return fastest_way(problem, device, registers) == way_ ? std::optional(preferred(device, registers))
                                                           : std::nullopt;
  }
  Plan lower(const Schedule& schedule, const Problem& problem, const DeviceInfo& device) const override {
    const Variant& kernel = *schedule.kernel;
    const Problem given = vectors_along_k(problem);
    const bool rows =
        kernel.tunables.at("ROWS_C") == 1 || (is_one_vector(given) && stores_by_rows(given, kernel.tunables));
    const Problem p = rows ? transposed(given) : given;
    const CpuTile tile = tile_of(p, kernel.tunables, largest_tile(p, kernel.tunables, device), device);
    const auto groups = static_cast<std::size_t>(ceil_div(p.m, tile.m) * ceil_div(p.n, tile.n));
    const std::size_t members = std::min(static_cast<std::size_t>(p.batch), device.max_groups[1]);
    GemmArguments sizes = sizes_of(p);
    sizes.tile_m = static_cast<int>(tile.m);
    sizes.tile_n = static_cast<int>(tile.n);
    Plan plan;
    plan.scalars = {problem.alpha, problem.beta};
    add_step(plan, kernel,
             {.groups = {groups, members, 1}, .local = {1, 1, 1}, .cores = cores_for(p, device)},
             gemm_arguments(sizes, rows ? matrix_b(given) : matrix_a(given),
                            rows ? matrix_a(given) : matrix_b(given), matrix_c(given), matrix_d(given),
                            Factors::of_call),
             device);
    return plan;
  }

 protected:
  // A tile's rows of op(A), which are read again for other columns, stay in a core's caches.
  virtual LargestTile largest_tile(const Problem& p, const Tunables& t, const DeviceInfo& device) const {
    const auto floats = static_cast<std::int64_t>(cached_floats(device));
    const std::int64_t rows = t.at("WIDTH") * t.at("VECTORS");
    return {{round_up(std::max<std::int64_t>(floats / 2 / p.k, 1), rows), any_length}, t.at("WIDTH"), false};
  }
  virtual bool stores_by_rows(const Problem& p, const Tunables& registers) const {
    return by_rows(p, registers);
  }
  virtual void fit(Tunables&, const Problem&) const {}
  virtual Tunables preferred(const DeviceInfo&, const Tunables& registers) const { return registers; }

 private:
  Way way_;
};

KernelSpec for_cpus(KernelSpec spec, std::shared_ptr<const Family> family) {
  spec.geometry = [family](std::int64_t m, std::int64_t n, const Tunables& t) {
    const Multiples tile = family->tile(t);
    return Geometry{{group_count(m, tile.m) * group_count(n, tile.n), 1, 1}, {1, 1, 1}};
  };
  spec.family = std::move(family);
  return spec;
}

// --- Operands as they stand ------------------------------------------------------------------------------

class Direct : public Cpu {
 public:
  Direct() : Cpu(Way::direct) {}
  Multiples tile(const Tunables& t) const override {
    return {at(t, "WIDTH") * at(t, "VECTORS"), at(t, "COLS"), 1};
  }

 private:
  void fit(Tunables& set, const Problem& p) const override {
    if (p.a_op == Transpose::yes) {
      // As many rows as are transposed at once, and enough chains of sums to fill the pipeline.
      set["WIDTH"] = 4;
      set["VECTORS"] = 4;
      set["COLS"] = std::min(set["COLS"], 4);
    } else if (constexpr int chains = 8; p.m <= set["WIDTH"] && set["COLS"] < chains) {
      // Of a single vector, so few columns have too few of these chains.
      set["VECTORS"] = 1;
      set["COLS"] = chains;
    }
  }
};

KernelSpec cpu_direct() {
  KernelSpec spec = for_cpus(
      {.name = "cpu_direct", .path = "gemm/cpu/cpu_direct.cl", .idea = "operands as they stand, for CPUs"},
      std::make_shared<Direct>());
  spec.rules = {
      {"WIDTH=4 with TRANS_A=1", [](const Tunables& t) { return !at(t, "TRANS_A") || at(t, "WIDTH") == 4; }}};
  return spec;
}

// --- Packed panels of A ----------------------------------------------------------------------------------

class Panels : public Cpu {
 public:
  Panels() : Cpu(Way::panels) {}
  bool decides(std::string_view tunable) const override {
    return tunable == "COPY_A" || Cpu::decides(tunable);
  }
  Multiples tile(const Tunables& t) const override { return rectangular_multiples(t); }

 private:
  // Every row and column needs room for its sum, but where a copied A has all k in one stretch. What is
  // packed of B then has room for more columns.
  LargestTile largest_tile(const Problem& p, const Tunables& t, const DeviceInfo&) const override {
    const std::int64_t tsk = t.at("TSK"), tsn = t.at("TSN"), cols = t.at("COLS"), width = t.at("WIDTH");
    if (t.at("COPY_A") == 1 && p.k <= tsk) {
      const auto block = [&](std::int64_t k) { return cols * k + std::int64_t{gap_after_b_panel}; };
      return {{any_length, t.at("TRANS_B") == 0 ? any_length : tsn / cols * block(tsk) / block(p.k) * cols},
              width,
              true};
    }
    const std::int64_t sums = std::int64_t{t.at("SHARES")} * t.at("TSM") * tsn;
    return {{sums / std::min(round_up(p.n, cols), tsn) / width * width, tsn}, width, true};
  }
  // On a Zen 3 core, an A that is read where it stands takes 0.85 of the time for 3000 x 24 x 1000, 0.92 for
  // 600 x 24 x 600, 0.23 for 3231 x 2 x 1730, and 1.12 for 100 x 32 x 2000.
  static constexpr std::int64_t few_columns = 24;
  void fit(Tunables& set, const Problem& p) const override {
    set["COPY_A"] = p.a_op == Transpose::yes || p.n > few_columns;
  }
  Tunables preferred(const DeviceInfo& device, const Tunables& registers) const override {
    return cpu_blocks(device, registers);
  }
};

KernelSpec cpu_panels() {
  KernelSpec spec =
      for_cpus({.name = "cpu_panels", .path = "gemm/cpu/cpu_panels.cl", .idea = "panels of A, for CPUs"},
               std::make_shared<Panels>());
  spec.local_bytes = [](const Tunables& t) {
    const std::size_t gaps = (at(t, "TSN") / at(t, "COLS") + at(t, "COLS")) * gap_after_b_panel;
    const std::size_t a_panels = at(t, "COPY_A") * at(t, "TSM") * at(t, "TSK");
    const std::size_t b_panels = at(t, "TRANS_B") * (at(t, "TSN") * at(t, "TSK") + gaps);
    return sizeof(float) * (a_panels + at(t, "SHARES") * at(t, "TSM") * at(t, "TSN") + b_panels);
  };
  spec.rules = {
      multiple_of("TSM", "WIDTH"),
      multiple_of("TSN", "COLS"),
      {"COPY_A=1 with TRANS_A=1", [](const Tunables& t) { return !at(t, "TRANS_A") || at(t, "COPY_A"); }}};
  return spec;
}

// --- Dot products ----------------------------------------------------------------------------------------

class Dots : public Cpu {
 public:
  Dots() : Cpu(Way::dots, std::vector<Tunables>(1)) {}
  int storage_of(const Problem& p) const override { return has_dots(vectors_along_k(p)) ? 0 : -1; }
  bool decides(std::string_view tunable) const override {
    return tunable == "TRANS_A" || tunable == "ROOM" || Cpu::decides(tunable);
  }
  bool reorders(const Tunables&) const override { return true; }
  Multiples tile(const Tunables& t) const override {
    return {at(t, "VECTORS"), at(t, "COLS"), at(t, "WIDTH")};
  }

 private:
  LargestTile largest_tile(const Problem& p, const Tunables& t, const DeviceInfo&) const override {
    const bool copies = t.at("TRANS_A") == 0;
    return {{copies ? t.at("ROOM") / dots_stride(p.k) : any_length, any_length}, 1, copies};
  }
  bool stores_by_rows(const Problem& p, const Tunables&) const override { return dots_by_rows(p); }
  void fit(Tunables& set, const Problem& p) const override {
    set["TRANS_A"] = p.a_op == Transpose::yes;
    set["ROOM"] = dots_room(p);
  }
  Tunables preferred(const DeviceInfo&, const Tunables& registers) const override {
    return {{"WIDTH", registers.at("WIDTH")}};
  }
};

KernelSpec cpu_dots() {
  KernelSpec spec =
      for_cpus({.name = "cpu_dots", .path = "gemm/cpu/cpu_dots.cl", .idea = "dot products, for CPUs"},
               std::make_shared<Dots>());
  spec.local_bytes = [](const Tunables& t) {
    return at(t, "TRANS_A") == 1 ? 0 : sizeof(float) * at(t, "ROOM");
  };
  return spec;
}

}  // namespace

std::vector<KernelSpec> cpu_kernels() { return {cpu_direct(), cpu_panels(), cpu_dots()}; }

Problem transposed(Problem p) {
  const auto other = [](Transpose op) { return op == Transpose::no ? Transpose::yes : Transpose::no; };
  std::swap(p.m, p.n);
  p.a_op = other(std::exchange(p.b_op, other(p.a_op)));
  std::swap(p.lda, p.ldb);
  std::swap(p.a_stride, p.b_stride);
  return p;
}

std::size_t cores_for(const Problem& problem, const DeviceInfo& device) {
  const auto m = static_cast<double>(problem.m), n = static_cast<double>(problem.n),
             k = static_cast<double>(problem.k);
  const double element = sizeof(float) * static_cast<double>(problem.batch);  // of all members
  const auto lanes = static_cast<double>(std::max<std::size_t>(device.vector_floats, 1));
  const double alone =
      std::max(problem.flops() / 2.0 / (of_lane * lanes), (m * k + k * n) * element / of_cache) +
      m * n * element / to_cache;
  const std::size_t cores = std::max<std::size_t>(device.compute_units, 1);
  return alone > device.seconds_to_start + alone / static_cast<double>(cores) ? cores : 1;
}

namespace {

// The tunables of `cpu_panels` on a device with programs built in: with these registers where it has such,
// else others. Nothing where the device compiles.
std::optional<Tunables> built_panels(const DeviceInfo& device, const Tunables& registers) {
  if (device.programs == nullptr) {
    return std::nullopt;
  }
  const std::vector<Tunables> there = built_settings(find_kernel("cpu_panels"), device);
  const auto found = std::ranges::find_if(there, [&](const Tunables& setting) {
    return std::ranges::all_of(registers, [&](const auto& each) {
      return value_or(setting, each.first, each.second) == each.second;
    });
  });
  return found == there.end() ? there.front() : *found;
}

}  // namespace

// Nobody has looked yet: accumulators, a vector of each row of them and one of B fill the 16 registers that
// most CPUs have.
Tunables cpu_registers(const DeviceInfo& device, const Tunables& measured) {
  if (const std::optional<Tunables> built = built_panels(device, measured)) {
    return {{"WIDTH", built->at("WIDTH")}, {"VECTORS", built->at("VECTORS")}, {"COLS", built->at("COLS")}};
  }
  if (!measured.empty()) {
    return measured;
  }
  const int width = device.vector_floats >= 16 ? 16 : device.vector_floats >= 8 ? 8 : 4;
  return {{"WIDTH", width}, {"VECTORS", 3}, {"COLS", 4}};
}

void require_cpu_registers(const Tunables& registers) { resolve(find_kernel("cpu_panels"), registers); }

Tunables cpu_blocks(const DeviceInfo& device, const Tunables& registers) {
  if (const std::optional<Tunables> built = built_panels(device, registers)) {
    return *built;
  }
  Tunables blocks = registers;
  const std::int64_t rows = blocks["VECTORS"] * blocks["WIDTH"];
  const std::int64_t cols = blocks["COLS"];
  // All that is packed and the sums share the second cache. Through PoCL longer stretches of k were not
  // faster.
  constexpr std::size_t longest = 256;
  const std::size_t whole = std::min(cached_floats(device), device.local_bytes / sizeof(float)) / 8 * 7;
  const auto tsm = static_cast<std::size_t>(blocks["TSM"] = largest("TSM", rows, whole / 4 / longest));
  const auto tsk =
      static_cast<std::size_t>(blocks["TSK"] = largest("TSK", 1, std::min(longest, whole / 2 / tsm)));
  const std::size_t left = whole - std::min(whole, tsm * tsk);
  blocks["TSN"] =
      largest("TSN", cols, left / (tsm + tsk + gap_after_b_panel / static_cast<std::size_t>(cols)));
  return blocks;
}

}  // namespace duogemm
