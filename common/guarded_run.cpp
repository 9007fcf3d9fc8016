#include "guarded_run.h"

#include <algorithm>
#include <cstring>

namespace duogemm {
namespace {

constexpr std::size_t least_guard_bytes = 4096;

std::size_t guard_elements(const DeviceInfo& info) {
  const std::size_t alignment = info.slice_alignment;
  return (least_guard_bytes + alignment - 1) / alignment * alignment / sizeof(float);
}

bool same_word(const float& a, const float& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

}  // namespace

GuardedOperands::GuardedOperands(const HostProblem& host, Device& device, Queue& queue)
    : problem_(host.problem),
      guard_(guard_elements(device.info())),
      a_(place(host.a, 4, device, queue)),
      b_(place(host.b, 5, device, queue)),
      c_(place(host.c, 6, device, queue)) {}

GuardedOperands::Guarded GuardedOperands::place(const std::vector<float>& matrix, std::uint32_t tag,
                                                Device& device, Queue& queue) const {
  Guarded placed;
  placed.content.resize(matrix.size() + 2 * guard_);
  for (std::size_t i = 0; i < placed.content.size(); ++i) {
    placed.content[i] = tagged_nan(tag, i);
  }
  std::copy(matrix.begin(), matrix.end(), placed.content.begin() + static_cast<std::ptrdiff_t>(guard_));
  placed.whole = device.allocate(placed.content.size() * sizeof(float));
  placed.matrix = placed.whole->slice(guard_ * sizeof(float), matrix.size() * sizeof(float));
  queue.write(*placed.whole, placed.content.data(), placed.whole->bytes());
  return placed;
}

PreparedPlan::Operands GuardedOperands::operands() const {
  return {{{a_.matrix.get()}, {b_.matrix.get()}, {c_.matrix.get()}}};
}

void GuardedOperands::reset_c(Queue& queue) { queue.write(*c_.whole, c_.content.data(), c_.whole->bytes()); }

Comparison GuardedOperands::compare(const Oracle& oracle, Queue& queue) const {
  std::vector<float> found(c_.content.size());
  queue.read(*c_.whole, found.data(), c_.whole->bytes());
  Comparison result =
      oracle.compare(std::span(found).subspan(guard_, static_cast<std::size_t>(problem_.c_elements())));

  const auto note_overwritten = [&](const char* name, std::size_t at) {
    if (++result.overwritten == 1 && result.first_fault.empty()) {
      const std::ptrdiff_t element = static_cast<std::ptrdiff_t>(at) - static_cast<std::ptrdiff_t>(guard_);
      result.first_fault = std::string(name) + "[" + std::to_string(element) + "] was overwritten";
    }
  };
  const auto belongs_to_result = [&](std::size_t at) {
    const std::int64_t element = static_cast<std::int64_t>(at) - static_cast<std::int64_t>(guard_);
    return element >= 0 && element < problem_.c_elements() && element % problem_.ldc < problem_.m;
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!belongs_to_result(i) && !same_word(found[i], c_.content[i])) {
      note_overwritten("C", i);
    }
  }
  for (const auto& [name, input] : {std::pair("A", &a_), std::pair("B", &b_)}) {
    found.resize(input->content.size());
    queue.read(*input->whole, found.data(), input->whole->bytes());
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!same_word(found[i], input->content[i])) {
        note_overwritten(name, i);
      }
    }
  }
  return result;
}

}  // namespace duogemm
