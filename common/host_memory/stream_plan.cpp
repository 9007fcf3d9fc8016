#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <tuple>

#include "duogemm/error.h"
#include "host_memory/host_call.h"
#include "problem/precision.h"
#include "problem/rounding.h"

namespace duogemm {
namespace {

// The numbers of the rule in README.md.
constexpr double products_per_byte = 2000.0;    // floating-point operations while one byte is copied
constexpr double device_bytes_per_byte = 60.0;  // that the device reads or writes in its own memory meanwhile
constexpr double step_bytes = 8 << 20;          // copied in the time that a further step costs by itself
constexpr double half_busy = 1024.0 * 1024.0;   // elements of C that keep a device half busy
constexpr double copy_price = 0.25;             // that copies have which products hide

// Whole members of a batch that together have this much are one block.
constexpr double little = 32 << 20;
// A side of a block is a multiple of this, but for what is left at the edges; a long one of whole tiles.
constexpr std::int64_t side_multiple = 16;
constexpr std::int64_t tile_multiple = 256;
constexpr std::int64_t long_side = 1024;
// So that a block begins where a kernel reads in vectors, on any device.
constexpr std::int64_t slot_multiple = 64;

bool shares(const Problem& p, std::int64_t stride) { return p.batch_by == BatchBy::strides && stride == 0; }

// The size itself, a half, a third, a quarter, a sixth and so on, down to the smallest side.
std::vector<std::int64_t> sides(std::int64_t size) {
  std::vector<std::int64_t> found;
  for (std::int64_t parts = 1;; parts = parts % 3 == 0 ? parts / 3 * 4 : std::max(parts / 2 * 3, parts + 1)) {
    const std::int64_t part = ceil_div(size, parts);
    const std::int64_t side =
        std::min(size, round_up(part, part >= long_side ? tile_multiple : side_multiple));
    if (found.empty() || found.back() != side) {
      found.push_back(side);
    }
    if (side <= side_multiple) {
      return found;
    }
  }
}

class Search {
 public:
  Search(const Problem& problem, const DeviceMemory& memory) : p_(problem), memory_(memory) {
    const double batch = static_cast<double>(p_.batch);
    const double m = static_cast<double>(p_.m), n = static_cast<double>(p_.n);
    const double k = p_.multiplies() ? static_cast<double>(p_.k) : 0.0;
    a_bytes_ = sizeof(float) * m * k * (shares(p_, p_.a_stride) ? 1.0 : batch);
    b_bytes_ = sizeof(float) * k * n * (shares(p_, p_.b_stride) ? 1.0 : batch);
    c_bytes_ = sizeof(float) * m * n * batch;
  }

  // Nothing when there is no memory for any.
  std::optional<Blocks> best() const {
    if (const std::optional<Blocks> whole = whole_members()) {
      return whole;
    }
    return least([&](const Blocks& blocks, bool resident) {
      return fits(blocks) ? predicted(blocks, resident) : std::numeric_limits<double>::infinity();
    });
  }

  // The blocks that need the least memory.
  Blocks smallest() const {
    return least([](const Blocks& blocks, bool) { return static_cast<double>(blocks.bytes()); }).value();
  }

 private:
  bool fits(const Blocks& blocks) const {
    return blocks.bytes() <= memory_.bytes &&
           std::max({blocks.bytes(0), blocks.bytes(1), blocks.bytes(2)}) <= memory_.largest;
  }

  // Counts the different blocks of A, B and C.
  std::array<std::int64_t, 3> different(const Blocks& blocks) const {
    const std::int64_t groups = ceil_div(p_.batch, blocks.members);
    const std::int64_t m = ceil_div(p_.m, blocks.m), n = ceil_div(p_.n, blocks.n);
    const std::int64_t k = p_.multiplies() ? ceil_div(p_.k, blocks.k) : 0;
    return {(shares(p_, p_.a_stride) ? 1 : groups) * m * k, (shares(p_, p_.b_stride) ? 1 : groups) * k * n,
            groups * m * n};
  }

  Blocks sized(Blocks blocks, std::int64_t most_slots) const {
    const bool reads = p_.multiplies();
    const std::int64_t of_a = shares(p_, p_.a_stride) ? 1 : blocks.members;
    const std::int64_t of_b = shares(p_, p_.b_stride) ? 1 : blocks.members;
    blocks.slots = different(blocks);
    for (std::int64_t& slots : blocks.slots) {
      slots = std::min(slots, most_slots);
    }
    blocks.slot_floats = {reads ? round_up(of_a * blocks.m * blocks.k, slot_multiple) : 0,
                          reads ? round_up(of_b * blocks.k * blocks.n, slot_multiple) : 0,
                          round_up(blocks.members * blocks.m * blocks.n, slot_multiple)};
    return blocks;
  }

  // Takes as many small members as together are little.
  std::optional<Blocks> whole_members() const {
    const double member = (a_bytes_ + b_bytes_ + c_bytes_) / static_cast<double>(p_.batch);
    if (member > little) {
      return std::nullopt;
    }
    const auto most = static_cast<std::int64_t>(little / member);
    for (std::int64_t members = std::min(most, p_.batch); members > 0; members /= 2) {
      const Blocks blocks = sized({.members = members, .m = p_.m, .n = p_.n, .k = p_.k}, 2);
      if (fits(blocks)) {
        return blocks;
      }
    }
    return std::nullopt;
  }

  // Of each way to split a member, with memory for two blocks of each matrix, and for all, the one of the
  // least cost.
  template <typename Cost>
  std::optional<Blocks> least(const Cost& cost) const {
    const double all = a_bytes_ + b_bytes_ + c_bytes_;
    const bool splits_k = p_.multiplies() && p_.level == Reproducibility::run_to_run &&
                          all > static_cast<double>(memory_.bytes);
    const std::vector<std::int64_t> depths = splits_k ? sides(p_.k) : std::vector{p_.k};
    std::optional<Blocks> best;
    double least = std::numeric_limits<double>::infinity();
    for (const std::int64_t m : sides(p_.m)) {
      for (const std::int64_t n : sides(p_.n)) {
        for (const std::int64_t k : depths) {
          for (const bool resident : {false, true}) {
            const Blocks blocks =
                sized({.m = m, .n = n, .k = k}, resident ? std::numeric_limits<std::int64_t>::max() : 2);
            if (const double found = cost(blocks, resident); found < least) {
              least = found;
              best = blocks;
            }
          }
        }
      }
    }
    return best;
  }

  // In bytes that are copied meanwhile.
  double predicted(const Blocks& blocks, bool resident) const {
    const auto number = [](std::int64_t value) { return static_cast<double>(value); };
    const std::int64_t m = ceil_div(p_.m, blocks.m), n = ceil_div(p_.n, blocks.n);
    const std::int64_t k = p_.multiplies() ? ceil_div(p_.k, blocks.k) : 1;
    const bool keeps_a = resident || m * k <= blocks.slots[0];
    const bool keeps_b = resident || k <= blocks.slots[1];
    const double written = a_bytes_ * (keeps_a ? 1.0 : number(n)) + b_bytes_ * (keeps_b ? 1.0 : number(m)) +
                           (p_.beta == 0.0f ? 0.0 : c_bytes_);
    const double copied = std::max(written, c_bytes_);  // both ways at once
    const double passes = 2.0 * c_bytes_ * number(k - 1) / device_bytes_per_byte;
    const double steps = number(m) * number(n) * number(k) * number(p_.batch);
    const double idle = half_busy / (number(blocks.m) * number(blocks.n));
    const double multiplied = p_.multiplies() ? p_.flops() / products_per_byte * (1.0 + idle * idle) : 0.0;
    const double first = sizeof(float) * number(blocks.slot_floats[0] + blocks.slot_floats[1]);
    // The blocks of B of the next column have to wait where those of this one fill all their slots.
    const bool waits = !resident && keeps_b && k > 1;
    const double waiting = waits ? sizeof(float) * number(blocks.slot_floats[1] * k * (n - 1)) : 0.0;
    const double last = sizeof(float) * number(blocks.slot_floats[2]);
    return std::max(copied, multiplied + passes) + copy_price * copied + first + waiting + last +
           steps * step_bytes;
  }

  const Problem& p_;
  const DeviceMemory memory_;
  double a_bytes_, b_bytes_, c_bytes_;  // of all members
};

// The product of the blocks of such sizes, packed.
Problem block_problem(const Problem& problem, const Blocks& sizes, float beta) {
  Problem p = problem;
  p.batch_by = BatchBy::strides;
  p.m = sizes.m;
  p.n = sizes.n;
  p.k = sizes.k;
  p.batch = sizes.members;
  p.beta = beta;
  p.lda = std::max<std::int64_t>(p.a_rows(), 1);
  p.ldb = std::max<std::int64_t>(p.b_rows(), 1);
  p.ldc = p.m;
  p.a_stride = shares(problem, problem.a_stride) || !p.multiplies() ? 0 : p.a_rows() * p.a_cols();
  p.b_stride = shares(problem, problem.b_stride) || !p.multiplies() ? 0 : p.b_rows() * p.b_cols();
  p.c_stride = p.m * p.n;
  return p;
}

// Goes over all different products that the blocks make of a problem.
std::size_t most_workspace(const Problem& p, const Blocks& blocks, const WorkspaceBytes& workspace) {
  // A whole block, and what is left at the edge.
  const auto lengths = [](std::int64_t size, std::int64_t block) {
    return size % std::max<std::int64_t>(block, 1) == 0 ? std::vector{block}
                                                        : std::vector{block, size % block};
  };
  std::vector<float> betas = {p.beta};
  if (p.beta == 0.0f && blocks.k < p.k) {
    betas.push_back(1.0f);
  }
  std::size_t most = 0;
  for (const std::int64_t members : lengths(p.batch, blocks.members)) {
    for (const std::int64_t m : lengths(p.m, blocks.m)) {
      for (const std::int64_t n : lengths(p.n, blocks.n)) {
        for (const std::int64_t k : lengths(p.k, blocks.k)) {
          for (const float beta : betas) {
            const Blocks sizes{.members = members, .m = m, .n = n, .k = k};
            most = std::max(most, workspace(block_problem(p, sizes, beta)));
          }
        }
      }
    }
  }
  return most;
}

// One dimension of a block.
struct Range {
  std::int64_t begin;
  std::int64_t size;
};

std::vector<Range> split(std::int64_t size, std::int64_t block) {
  if (size == 0) {
    return {{0, 0}};
  }
  std::vector<Range> ranges;
  for (std::int64_t begin = 0; begin < size; begin += block) {
    ranges.push_back({begin, std::min(block, size - begin)});
  }
  return ranges;
}

// The slots of an operand on the device, with the blocks in them. What was used longest ago goes first.
class Slots {
 public:
  using Block = std::tuple<std::int64_t, std::int64_t, std::int64_t>;  // where it begins: member, row, column

  explicit Slots(std::int64_t count) : slots_(static_cast<std::size_t>(count)) {}

  struct Found {
    std::int64_t slot;
    bool present;
    std::size_t after_steps;  // that have used the slot
  };
  Found use(const Block& block, std::size_t step) {
    auto slot = std::ranges::find(slots_, block, &Slot::block);
    const bool present = slot != slots_.end();
    if (!present) {
      slot = std::ranges::min_element(slots_, {}, &Slot::used_by);
    }
    const Found found{slot - slots_.begin(), present, present ? 0 : slot->used_by};
    *slot = {block, step + 1};
    return found;
  }

 private:
  struct Slot {
    std::optional<Block> block = {};
    std::size_t used_by = 0;  // the number of the last step, counted from 1
  };
  std::vector<Slot> slots_;
};

class Planning {
 public:
  Planning(const Problem& problem, const Blocks& blocks)
      : p_(problem),
        a_(blocks.slots[0]),
        b_(blocks.slots[1]),
        last_download_(static_cast<std::size_t>(blocks.slots[2])) {
    plan_.blocks = blocks;
  }

  StreamPlan plan() && {
    const Blocks& blocks = plan_.blocks;
    for (const Range& members : split(p_.batch, blocks.members)) {
      for (const Range& n : split(p_.n, blocks.n)) {
        for (const Range& m : split(p_.m, blocks.m)) {
          add_block_of_c(members, m, n);
        }
      }
    }
    return std::move(plan_);
  }

 private:
  void add_block_of_c(const Range& members, const Range& m, const Range& n) {
    const std::size_t number = plan_.downloads.size();
    const auto slot = static_cast<std::int64_t>(number % last_download_.size());
    std::optional<std::size_t>& last = last_download_[number % last_download_.size()];
    const Window window{members.begin, members.size, m.begin, m.size, n.begin, n.size};
    const std::vector<Range> depths =
        p_.multiplies() ? split(p_.k, plan_.blocks.k) : std::vector{Range{0, p_.k}};
    for (const Range& k : depths) {
      StreamStep step{0, {0, 0, slot}, 0, last};
      if (p_.multiplies()) {
        step.slots[0] = upload(0, a_, shares(p_, p_.a_stride), p_.a_op, members, m, k);
        step.slots[1] = upload(1, b_, shares(p_, p_.b_stride), p_.b_op, members, k, n);
      }
      if (k.begin == 0 && p_.beta != 0.0f) {
        plan_.uploads.push_back({2, window, slot, 0, last});
      }
      step.uploads = plan_.uploads.size();
      step.problem = problem_of({.members = members.size, .m = m.size, .n = n.size, .k = k.size},
                                k.begin == 0 ? p_.beta : 1.0f);
      plan_.steps.push_back(step);
    }
    last = number;
    plan_.downloads.push_back({window, slot, plan_.steps.size()});
  }

  // Describes op(A) or op(B), or its transpose, which is stored.
  std::int64_t upload(std::size_t operand, Slots& slots, bool shared, Transpose op, const Range& of_batch,
                      Range rows, Range cols) {
    const Range members = shared ? Range{0, 1} : of_batch;
    if (op == Transpose::yes) {
      std::swap(rows, cols);
    }
    const Slots::Found found = slots.use({members.begin, rows.begin, cols.begin}, plan_.steps.size());
    if (!found.present) {
      plan_.uploads.push_back({operand,
                               {members.begin, members.size, rows.begin, rows.size, cols.begin, cols.size},
                               found.slot,
                               found.after_steps});
    }
    return found.slot;
  }

  // There are few different ones.
  std::size_t problem_of(const Blocks& sizes, float beta) {
    const Problem wanted = block_problem(p_, sizes, beta);
    const auto same = [&](const Problem& p) {
      return p.m == wanted.m && p.n == wanted.n && p.k == wanted.k && p.batch == wanted.batch &&
             p.beta == wanted.beta;
    };
    const auto found = std::find_if(plan_.problems.begin(), plan_.problems.end(), same);
    const auto number = static_cast<std::size_t>(found - plan_.problems.begin());
    if (found == plan_.problems.end()) {
      plan_.problems.push_back(wanted);
    }
    return number;
  }

  const Problem& p_;
  StreamPlan plan_;
  Slots a_, b_;
  std::vector<std::optional<std::size_t>> last_download_;  // from each slot of C
};

}  // namespace

// The workspaces of the products are not known before their sizes are: what the last choice needed is put
// aside, until blocks and workspace fit together.
Blocks choose_blocks(const Problem& problem, const DeviceMemory& memory, const WorkspaceBytes& workspace) {
  DeviceMemory left = memory;
  while (std::optional<Blocks> blocks = Search(problem, left).best()) {
    const std::size_t without = blocks->bytes();
    blocks->workspace_bytes = most_workspace(problem, *blocks, workspace);
    if (blocks->bytes() <= memory.bytes) {
      return *blocks;
    }
    left.bytes = std::min(without - 1, memory.bytes - std::min(memory.bytes, blocks->workspace_bytes));
  }
  Blocks smallest = Search(problem, memory).smallest();
  smallest.workspace_bytes = most_workspace(problem, smallest, workspace);
  const bool whole_k = problem.multiplies() && problem.is_invariant();
  throw Error(
      Status::out_of_memory,
      "the product needs " + std::to_string(smallest.bytes()) +
          " bytes of device memory for its smallest blocks" +
          (whole_k ? ", which have all of k at the level " + std::string(to_text(problem.level)) : "") +
          "; it may take " + std::to_string(memory.bytes));
}

std::uint64_t StreamPlan::copied_bytes() const {
  std::int64_t floats = 0;
  for (const Upload& upload : uploads) {
    floats += upload.window.floats();
  }
  for (const Download& download : downloads) {
    floats += download.window.floats();
  }
  return sizeof(float) * static_cast<std::uint64_t>(floats);
}

StreamPlan plan_stream(const Problem& problem, const Blocks& blocks) {
  return Planning(problem, blocks).plan();
}

}  // namespace duogemm
