#include "host_memory/stream_plan.h"

#include <algorithm>
#include <tuple>

namespace duogemm {
namespace {

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

// The slots of an operand on the device, and which block is in each. The block that was used longest ago goes
// first.
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
        shares_a_(problem.batch_by == BatchBy::strides && problem.a_stride == 0),
        shares_b_(problem.batch_by == BatchBy::strides && problem.b_stride == 0),
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
        step.slots[0] = upload_a(members, m, k);
        step.slots[1] = upload_b(members, k, n);
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

  std::int64_t upload_a(const Range& members, const Range& m, const Range& k) {
    const bool as_is = p_.a_op == Transpose::no;
    return upload(0, a_, shares_a_ ? Range{0, 1} : members, as_is ? m : k, as_is ? k : m);
  }

  std::int64_t upload_b(const Range& members, const Range& k, const Range& n) {
    const bool as_is = p_.b_op == Transpose::no;
    return upload(1, b_, shares_b_ ? Range{0, 1} : members, as_is ? k : n, as_is ? n : k);
  }

  std::int64_t upload(std::size_t operand, Slots& slots, const Range& members, const Range& rows,
                      const Range& cols) {
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
  const bool shares_a_, shares_b_;
  StreamPlan plan_;
  Slots a_, b_;
  std::vector<std::optional<std::size_t>> last_download_;  // from each slot of C
};

}  // namespace

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
