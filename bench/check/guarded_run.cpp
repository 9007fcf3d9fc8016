#include "check/guarded_run.h"

#include <algorithm>
#include <cstring>

#include "problem/rounding.h"

namespace duogemm {
namespace {

constexpr std::size_t least_guard_bytes = 4096;

std::size_t guard_elements(const DeviceInfo& info) {
  const std::size_t alignment = info.slice_alignment;
  return round_up(least_guard_bytes, alignment) / sizeof(float);
}

bool same_word(const float& a, const float& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::vector<float> read(const Buffer& buffer, Queue& queue) {
  std::vector<float> content(buffer.bytes() / sizeof(float));
  queue.read(buffer, content.data(), buffer.bytes());
  return content;
}

void add_member(Comparison& whole, const Comparison& member, const std::string& name) {
  whole.worst_error = std::max(whole.worst_error, member.worst_error);
  whole.different_bits += member.different_bits;
  if (whole.first_fault.empty() && !member.first_fault.empty()) {
    whole.first_fault = name + member.first_fault;
  }
}

}  // namespace

GuardedOperands::GuardedOperands(const HostProblem& host, Device& device, Queue& queue, Guards guards)
    : problem_(host.problem),
      c_places_(host.c_places),
      guard_(guards == Guards::bands ? guard_elements(device.info()) : 0),
      a_(place(host.a, host.a_places, 4, device, queue)),
      b_(place(host.b, host.b_places, 5, device, queue)),
      c_(place(host.c, host.c_places, 6, device, queue)) {}

GuardedOperands::Guarded GuardedOperands::place(const std::vector<float>& matrix,
                                                const std::vector<std::int64_t>& places, std::uint32_t tag,
                                                Device& device, Queue& queue) const {
  Guarded placed;
  if (matrix.empty()) {
    return placed;
  }
  placed.content.resize(matrix.size() + 2 * guard_);
  for (std::size_t i = 0; i < placed.content.size(); ++i) {
    placed.content[i] = tagged_nan(tag, i);
  }
  std::copy(matrix.begin(), matrix.end(), placed.content.begin() + static_cast<std::ptrdiff_t>(guard_));
  placed.whole = device.allocate(placed.content.size() * sizeof(float));
  placed.matrix = placed.whole->slice(guard_ * sizeof(float), matrix.size() * sizeof(float));
  queue.write(*placed.whole, placed.content.data(), placed.whole->bytes());
  if (problem_.batch_by == BatchBy::offsets) {
    placed.table = device.allocate(places.size() * sizeof(std::int64_t));
    queue.write(*placed.table, places.data(), placed.table->bytes());
  }
  return placed;
}

PreparedPlan::Operands GuardedOperands::operands() const {
  return {{{a_.matrix.get()}, {b_.matrix.get()}, {c_.matrix.get()}}};
}

PreparedPlan::Operands GuardedOperands::offset_operands() const {
  const std::int64_t offset = static_cast<std::int64_t>(guard_);
  return {{{a_.whole.get(), offset},
           {b_.whole.get(), offset},
           {c_.whole.get(), offset},
           {a_.table.get()},
           {b_.table.get()},
           {c_.table.get()}}};
}

void GuardedOperands::reset_c(Queue& queue) { queue.write(*c_.whole, c_.content.data(), c_.whole->bytes()); }

Comparison GuardedOperands::compare(std::span<const Oracle> oracles, Queue& queue) const {
  std::vector<float> found = read(*c_.whole, queue);
  Comparison result;
  for (std::size_t member = 0; member < oracles.size(); ++member) {
    const std::size_t begin = guard_ + static_cast<std::size_t>(c_places_[member]);
    const std::string name = oracles.size() > 1 ? "member " + std::to_string(member) + ": " : "";
    add_member(result, oracles[member].compare(std::span(found).subspan(begin)), name);
    for (std::int64_t col = 0; col < problem_.n; ++col) {  // the result is judged: what is left is the rest
      const std::size_t at = begin + static_cast<std::size_t>(col * problem_.ldc);
      std::copy_n(&c_.content[at], problem_.m, &found[at]);
    }
  }
  compare_rest("C", c_, found, result);
  for (const auto& [name, input] : {std::pair("A", &a_), std::pair("B", &b_)}) {
    if (input->whole) {
      compare_rest(name, *input, read(*input->whole, queue), result);
    }
  }
  return result;
}

void GuardedOperands::compare_rest(const char* name, const Guarded& operand, std::span<const float> found,
                                   Comparison& result) const {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!same_word(found[i], operand.content[i]) && ++result.overwritten == 1 && result.first_fault.empty()) {
      const std::ptrdiff_t element = static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(guard_);
      result.first_fault = std::string(name) + "[" + std::to_string(element) + "] was overwritten";
    }
  }
}

std::vector<Oracle> oracles_of(const HostProblem& host) {
  const auto from = [](const std::vector<float>& array, std::int64_t place) {
    return std::span(array).subspan(static_cast<std::size_t>(place));
  };
  std::vector<Oracle> oracles;
  for (std::size_t i = 0; i < host.c_places.size(); ++i) {
    oracles.emplace_back(host.problem, from(host.a, host.a_places[i]), from(host.b, host.b_places[i]),
                         from(host.c, host.c_places[i]));
  }
  return oracles;
}

}  // namespace duogemm
