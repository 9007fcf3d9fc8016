#include <algorithm>
#include <cmath>

#include "explain/listing.h"

namespace duogemm::bench {
namespace {

// The instructions from the target of a backward branch to the branch, by their places in the listing.
struct Loop {
  std::size_t begin;
  std::size_t end;  // one after the last
  Mix mix = {};

  std::size_t size() const { return end - begin; }
  bool holds(const Loop& other) const {
    return begin <= other.begin && other.end <= end && size() > other.size();
  }
  bool fetches() const {
    return mix[Kind::global_load].instructions + mix[Kind::global_load].bytes + mix[Kind::copy].instructions >
           0.0;
  }
};

void add(Mix& mix, const Listing& listing, const Loop& loop, double times) {
  for (std::size_t i = loop.begin; i < loop.end; ++i) {
    mix.add(listing[i], times);
  }
}

std::vector<Loop> loops_of(const Listing& listing) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < listing.size(); ++i) {
    const std::optional<std::size_t>& target = listing[i].target;
    if (target && *target <= listing[i].address && *target >= listing.front().address) {
      const auto begin = std::ranges::lower_bound(listing, *target, {}, &Instruction::address);
      loops.push_back({static_cast<std::size_t>(begin - listing.begin()), i + 1});
      add(loops.back().mix, listing, loops.back(), 1.0);
    }
  }
  return loops;
}

// Null when no loop multiplies.
const Loop* heaviest_innermost(const std::vector<Loop>& loops) {
  const Loop* best = nullptr;
  for (const Loop& loop : loops) {
    const bool is_innermost = std::ranges::none_of(
        loops, [&](const Loop& other) { return loop.holds(other) && other.mix.multiply_adds > 0.0; });
    if (is_innermost && loop.mix.multiply_adds > (best ? best->mix.multiply_adds : 0.0)) {
      best = &loop;
    }
  }
  return best;
}

const Loop* smallest_fetching_around(const Loop& inner, const std::vector<Loop>& loops) {
  const Loop* best = nullptr;
  for (const Loop& loop : loops) {
    if (loop.holds(inner) && loop.fetches() && (!best || loop.size() < best->size())) {
      best = &loop;
    }
  }
  return best;
}

}  // namespace

double Mix::instructions() const {
  double sum = 0.0;
  for (const Count& count : counts) {
    sum += count.instructions;
  }
  return sum;
}

void Mix::add(const Instruction& instruction, double times) {
  (*this)[instruction.kind].instructions += times;
  const bool reads_memory = instruction.kind == Kind::multiply_add;
  (*this)[reads_memory ? Kind::global_load : instruction.kind].bytes += times * instruction.bytes;
  multiply_adds += times * instruction.multiply_adds;
}

std::optional<MainLoop> find_main_loop(const Listing& listing, double multiply_adds) {
  const std::vector<Loop> loops = loops_of(listing);
  const Loop* inner = heaviest_innermost(loops);
  if (!inner) {
    return std::nullopt;
  }
  const Loop* outer = inner->fetches() ? nullptr : smallest_fetching_around(*inner, loops);
  const Loop& whole = outer ? *outer : *inner;
  MainLoop result{listing[whole.begin].address, listing[whole.end - 1].address, 1.0, whole.mix};
  if (outer) {
    const double inside = inner->mix.multiply_adds;
    const double trips = (multiply_adds - (outer->mix.multiply_adds - inside)) / inside;
    if (trips >= 1.0 && trips == std::floor(trips)) {  // else the numbers do not come out even
      result.inner_trips = trips;
      add(result.mix, listing, *inner, trips - 1.0);
    }
  }
  return result;
}

}  // namespace duogemm::bench
