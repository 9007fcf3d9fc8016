#include "explain/main_loop.h"

#include <algorithm>
#include <cmath>

namespace duogemm::bench {
namespace {

// The instructions from the target of a backward branch to the branch, by their places in the listing.
struct Loop {
  std::size_t begin;
  std::size_t end;  // one after the last

  std::size_t size() const { return end - begin; }
  bool holds(const Loop& other) const {
    return begin <= other.begin && other.end <= end && size() > other.size();
  }
};

std::size_t place_of(const Listing& listing, std::size_t address) {
  const auto found = std::lower_bound(
      listing.begin(), listing.end(), address,
      [](const Instruction& instruction, std::size_t wanted) { return instruction.address < wanted; });
  return static_cast<std::size_t>(found - listing.begin());
}

std::vector<Loop> loops_of(const Listing& listing) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < listing.size(); ++i) {
    const std::optional<std::size_t>& target = listing[i].target;
    if (target && *target <= listing[i].address && *target >= listing.front().address) {
      loops.push_back({place_of(listing, *target), i + 1});
    }
  }
  return loops;
}

Mix mix_of(const Listing& listing, const Loop& loop) {
  Mix mix;
  for (std::size_t i = loop.begin; i < loop.end; ++i) {
    mix.add(listing[i], 1.0);
  }
  return mix;
}

bool fetches(const Mix& mix) {
  return mix[Kind::global_load].instructions + mix[Kind::global_load].bytes + mix[Kind::copy].instructions >
         0.0;
}

bool is_innermost(const Loop& loop, const std::vector<Loop>& loops, const Listing& listing) {
  return std::none_of(loops.begin(), loops.end(), [&](const Loop& other) {
    return loop.holds(other) && mix_of(listing, other).multiply_adds > 0.0;
  });
}

const Loop* heaviest_innermost(const std::vector<Loop>& loops, const Listing& listing) {
  const Loop* best = nullptr;
  double most = 0.0;
  for (const Loop& loop : loops) {
    const double multiply_adds = mix_of(listing, loop).multiply_adds;
    if (multiply_adds > most && is_innermost(loop, loops, listing)) {
      best = &loop;
      most = multiply_adds;
    }
  }
  return best;
}

const Loop* smallest_fetching_around(const Loop& inner, const std::vector<Loop>& loops,
                                     const Listing& listing) {
  const Loop* best = nullptr;
  for (const Loop& loop : loops) {
    if (loop.holds(inner) && fetches(mix_of(listing, loop)) && (!best || loop.size() < best->size())) {
      best = &loop;
    }
  }
  return best;
}

// 1 when the numbers do not come out even.
double trips(double wanted, double outside, double inside) {
  const double count = (wanted - outside) / inside;
  return count >= 1.0 && count == std::floor(count) ? count : 1.0;
}

}  // namespace

std::optional<MainLoop> find_main_loop(const Listing& listing, double multiply_adds) {
  const std::vector<Loop> loops = loops_of(listing);
  const Loop* inner = heaviest_innermost(loops, listing);
  if (!inner) {
    return std::nullopt;
  }
  const Mix inner_mix = mix_of(listing, *inner);
  const Loop* outer = fetches(inner_mix) ? nullptr : smallest_fetching_around(*inner, loops, listing);
  const Loop& whole = outer ? *outer : *inner;
  MainLoop result{listing[whole.begin].address, listing[whole.end - 1].address, 1.0, mix_of(listing, whole)};
  if (outer) {
    const double inside = inner_mix.multiply_adds;
    result.inner_trips = trips(multiply_adds, result.mix.multiply_adds - inside, inside);
    for (std::size_t i = inner->begin; i < inner->end; ++i) {
      result.mix.add(listing[i], result.inner_trips - 1.0);
    }
  }
  return result;
}

}  // namespace duogemm::bench
