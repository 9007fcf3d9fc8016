#include "emulation/work_group.h"

#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace duogemm::emulation {
namespace {

constexpr std::size_t lanes = 32;
constexpr std::size_t stack_bytes = 256 * 1024;

struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
};

struct Item {
  ucontext_t context = {};
  std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(stack_bytes);
  bool ended = false;
  std::deque<std::vector<Copy>> groups_of_copies;
  std::vector<Copy> begun;
  // Others of its sub-group see this of it. It may be one meeting ahead of them: so every second time
  // another.
  std::array<std::array<std::uint32_t, 6>, 2> shown = {};
  std::size_t turn = 0;
};

// N work-items meet here.
struct Meeting {
  std::size_t arrived = 0;
  std::size_t times = 0;
};

struct WorkGroup {
  std::vector<Item> items;
  std::vector<Meeting> sub_groups;
  Meeting all;
  std::array<std::size_t, 3> number = {}, count = {};
  std::size_t current = 0;
  std::size_t waits = 0;  // in a row, without anybody getting any further
  ucontext_t scheduler = {};
  const std::function<void()>* kernel = nullptr;
};

WorkGroup* work_group = nullptr;

Item& own() { return work_group->items[work_group->current]; }

// Gives what a work-item of this one's sub-group has shown in its last meeting.
const std::array<std::uint32_t, 6>& shown_by(std::size_t lane) {
  return work_group->items[item() / lanes * lanes + lane].shown[own().turn];
}

void give_way() { swapcontext(&own().context, &work_group->scheduler); }

void meet(Meeting& meeting, std::size_t count) {
  const std::size_t before = meeting.times;
  work_group->waits = 0;
  if (++meeting.arrived == count) {
    meeting.arrived = 0;
    ++meeting.times;
    return;
  }
  while (meeting.times == before) {
    ++work_group->waits;
    give_way();
  }
}

void show_to_sub_group(const std::array<std::uint32_t, 6>& values) {
  own().turn = 1 - own().turn;
  own().shown[own().turn] = values;
  meet(work_group->sub_groups[item() / lanes], lanes);
}

void start() {
  (*work_group->kernel)();
  own().ended = true;
  work_group->waits = 0;
  give_way();
}

void run_work_group(std::size_t work_items) {
  WorkGroup& w = *work_group;
  w.items = std::vector<Item>(work_items);
  w.sub_groups.assign(work_items / lanes, {});
  w.all = {};
  for (Item& each : w.items) {
    getcontext(&each.context);
    each.context.uc_stack = {.ss_sp = each.stack.get(), .ss_flags = 0, .ss_size = stack_bytes};
    makecontext(&each.context, start, 0);
  }
  const auto ended = [](const Item& each) { return each.ended; };
  while (!std::all_of(w.items.begin(), w.items.end(), ended)) {
    if (w.waits > 2 * work_items) {
      throw std::logic_error("work-items wait for others that do not come");
    }
    for (w.current = 0; w.current < work_items; ++w.current) {
      if (!own().ended) {
        swapcontext(&w.scheduler, &own().context);
      }
    }
  }
}

}  // namespace

void run(const std::array<std::size_t, 3>& groups, std::size_t work_items,
         const std::function<void()>& kernel) {
  WorkGroup all;
  all.kernel = &kernel;
  all.count = groups;
  work_group = &all;
  for (std::size_t z = 0; z < groups[2]; ++z) {
    for (std::size_t y = 0; y < groups[1]; ++y) {
      for (std::size_t x = 0; x < groups[0]; ++x) {
        all.number = {x, y, z};
        run_work_group(work_items);
      }
    }
  }
  work_group = nullptr;
}

std::map<std::string, RunKernel>& kernels() {
  static std::map<std::string, RunKernel> all;
  return all;
}

std::size_t item() { return work_group->current; }
std::size_t group(int dimension) { return work_group->number[static_cast<std::size_t>(dimension)]; }
std::size_t groups(int dimension) { return work_group->count[static_cast<std::size_t>(dimension)]; }
void barrier() { meet(work_group->all, work_group->items.size()); }

void begin_copy(void* to, const void* from, std::size_t bytes) { own().begun.push_back({to, from, bytes}); }

void commit_copies() { own().groups_of_copies.push_back(std::exchange(own().begun, {})); }

void await_copies(std::size_t pending) {
  std::deque<std::vector<Copy>>& waiting = own().groups_of_copies;
  while (waiting.size() > pending) {
    for (const Copy& copy : waiting.front()) {
      std::memcpy(copy.to, copy.from, copy.bytes);
    }
    waiting.pop_front();
  }
}

namespace {

std::uintptr_t high_half = 0;

}  // namespace

std::uint32_t local_address(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  high_half = address >> 32 << 32;
  return static_cast<std::uint32_t>(address);
}

// Row j of the i-th block of 8 x 8 is where lane 8 i + j says, and each row's four pairs go to four lanes.
void load_fragment(std::uint32_t* fragment, std::uint32_t from) {
  show_to_sub_group({from});
  const std::size_t lane = item() % lanes;
  for (std::size_t block = 0; block < 4; ++block) {
    const std::uintptr_t row = high_half | shown_by(8 * block + lane / 4)[0];
    if (row % 16 != 0) {
      throw std::logic_error("a row of a fragment is not aligned to 16 bytes");
    }
    std::memcpy(fragment + block, reinterpret_cast<const std::byte*>(row) + lane % 4 * 4, 4);
  }
}

// "Matrix Fragments for mma.m16n8k16" in the PTX ISA.
void multiply_block(float (*value_of)(std::uint32_t), float* c, const std::uint32_t* a,
                    const std::uint32_t* b) {
  show_to_sub_group({a[0], a[1], a[2], a[3], b[0], b[1]});
  const std::size_t lane = item() % lanes;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t row = lane / 4 + i / 2 * 8;
    const std::size_t col = lane % 4 * 2 + i % 2;
    double sum = c[i];
    for (std::size_t k = 0; k < 16; ++k) {
      const std::size_t pair = k / 2 % 4;
      const std::uint32_t left = shown_by(row % 8 * 4 + pair)[row / 8 + k / 8 * 2];
      const std::uint32_t right = shown_by(col * 4 + pair)[4 + k / 8];
      const unsigned shift = k % 2 * 16;
      sum += double{value_of(left >> shift & 0xffffu)} * value_of(right >> shift & 0xffffu);
    }
    c[i] = static_cast<float>(sum);
  }
}

void sub_group_barrier() { sub_group_max(0); }
bool any_in_sub_group(bool condition) { return sub_group_max(condition ? 1 : 0) != 0; }

std::uint32_t sub_group_max(std::uint32_t value) {
  show_to_sub_group({value});
  std::uint32_t most = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    most = std::max(most, shown_by(lane)[0]);
  }
  return most;
}

// Rounded to the nearest, by the host's own conversion.
std::uint32_t bits_of_F16(float value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }
float value_of_F16(std::uint32_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(bits)));
}

std::uint32_t bits_of_BF16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    return 0x7fffu;
  }
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
float value_of_BF16(std::uint32_t bits) { return std::bit_cast<float>(bits << 16); }

}  // namespace duogemm::emulation
