#include "runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace duogemm {
namespace {

// A call's operands and factors, as steps need them.
struct Call {
  std::span<const MatrixPlace> operands;
  const PreparedPlan::Workspaces& workspaces;
  const Scalars& scalars;

  float factor(ScalarOf scalar) const { return scalar == ScalarOf::alpha ? scalars.alpha : scalars.beta; }

  const MatrixPlace& place_of(Operand operand) const {
    return operand.slot >= first_workspace
               ? workspaces.at(static_cast<std::size_t>(operand.slot - first_workspace))
               : operands[static_cast<std::size_t>(operand.slot)];
  }

  Argument argument(const std::variant<Operand, ScalarOf>& given) const {
    if (const Operand* operand = std::get_if<Operand>(&given)) {
      return place_of(*operand).buffer;
    }
    return factor(*std::get_if<ScalarOf>(&given));
  }

  // Gives a copy of the struct those members that are not as planned.
  void fill_in(std::byte* to, const StructArgument& numbers) const {
    for (const auto& [at, operand] : numbers.offsets) {
      std::int64_t offset;
      std::memcpy(&offset, numbers.values.data() + at, sizeof offset);
      offset += place_of(operand).offset;
      std::memcpy(to + at, &offset, sizeof offset);
    }
    for (const auto& [at, scalar] : numbers.factors) {
      const float value = factor(scalar);
      std::memcpy(to + at, &value, sizeof value);
    }
  }
};

}  // namespace

Problem placed(const Problem& problem, const PreparedPlan::Operands& operands) {
  Problem result = problem;
  result.a_aligned = operands[static_cast<std::size_t>(operand_a.slot)].aligned();
  result.b_aligned = operands[static_cast<std::size_t>(operand_b.slot)].aligned();
  result.c_aligned = operands[static_cast<std::size_t>(operand_c.slot)].aligned();
  return result;
}

PreparedPlan::PreparedPlan(Plan plan, Device& device, ProgramCache& programs)
    : multiply_(plan.multiply), layout_(lay_out_workspaces(plan, device.info())) {
  steps_.reserve(plan.steps.size());
  for (Step& step : plan.steps) {
    const KernelSpec& spec = *step.kernel->spec;
    std::shared_ptr<const Kernel> kernel = programs.get(*step.kernel);
    const int multiple = spec.sub_group_multiple(step.kernel->tunables);
    const std::size_t size = multiple == 1 ? 1 : kernel->sub_group_size(step.geometry.local);
    if (size % static_cast<std::size_t>(multiple) != 0) {
      throw Error(Status::unsupported, "a sub-group size that is a multiple of " + std::to_string(multiple) +
                                           "; the device has " + std::to_string(size));
    }
    PreparedStep& prepared =
        steps_.emplace_back(PreparedStep{std::move(kernel), step.kernel->needs.starts_early, step.geometry});
    for (StepArgument& argument : step.arguments) {
      prepared.add(std::move(argument));
    }
  }
}

void PreparedPlan::PreparedStep::add(StepArgument argument) {
  Argument& place = arguments.at(count);
  if (const auto* integer = std::get_if<std::int32_t>(&argument)) {
    place = *integer;
  } else if (const auto* number = std::get_if<float>(&argument)) {
    place = *number;
  } else if (const auto* operand = std::get_if<Operand>(&argument)) {
    given.emplace_back(count, *operand);
  } else if (const auto* factor = std::get_if<ScalarOf>(&argument)) {
    given.emplace_back(count, *factor);
  } else {
    numbers = std::get<StructArgument>(std::move(argument));
    numbers_at = count;
  }
  ++count;
}

PreparedPlan::Workspaces PreparedPlan::workspaces_in(const Buffer& memory, std::size_t begin) const {
  Workspaces workspaces;
  for (const WorkspaceLayout::Part& part : layout_.parts) {
    workspaces.push_back({&memory, static_cast<std::int64_t>((begin + part.begin) / sizeof(float))});
  }
  return workspaces;
}

void PreparedPlan::enqueue(Queue& queue, const Operands& operands, const Workspaces& workspaces,
                           const Scalars& scalars, std::size_t count) const {
  for (std::size_t i = 0; i < std::min(count, steps_.size()); ++i) {
    if (i > 0) {
      queue.barrier(steps_[i].awaits);
    }
    enqueue(steps_[i], queue, operands, workspaces, scalars);
  }
}

void PreparedPlan::enqueue_multiply(Queue& queue, const Operands& operands, const Workspaces& workspaces,
                                    const Scalars& scalars) const {
  for (std::size_t i = multiply_; i < steps_.size(); ++i) {
    if (steps_[i].kernel == steps_[multiply_].kernel) {
      if (i > multiply_) {
        queue.barrier(steps_[i].awaits);
      }
      enqueue(steps_[i], queue, operands, workspaces, scalars);
    }
  }
}

std::optional<StepByAddress> PreparedPlan::by_address() const {
  const PreparedStep& only = steps_.front();
  const auto& [values, offsets, factors] = only.numbers;
  StepByAddress step;
  if (steps_.size() > 1 || layout_.bytes > 0 || only.numbers_at != 0 ||
      values.size() > step.numbers_.size() || offsets.size() != step.address_at_.size() ||
      factors.size() != 2) {
    return std::nullopt;
  }
  step.kernel_ = only.kernel.get();
  step.geometry_ = &only.geometry;
  std::ranges::copy(values, step.numbers_.begin());
  constexpr std::int64_t none = 0;
  std::size_t c_and_d = static_cast<std::size_t>(operand_c.slot);
  std::array<bool, 4> found = {};
  for (const auto& [at, operand] : offsets) {
    const std::size_t i = operand == operand_c ? c_and_d++ : static_cast<std::size_t>(operand.slot);
    if (i >= found.size() || found[i] || std::memcmp(values.data() + at, &none, sizeof none) != 0) {
      return std::nullopt;
    }
    found[i] = true;
    step.address_at_[i] = at;
  }
  for (const auto& [at, scalar] : factors) {
    (scalar == ScalarOf::alpha ? step.alpha_at_ : step.beta_at_) = at;
  }
  return step;
}

void PreparedPlan::enqueue(const PreparedStep& step, Queue& queue, const Operands& operands,
                           const Workspaces& workspaces, const Scalars& scalars) {
  const Call call{operands, workspaces, scalars};
  alignas(Argument) std::array<std::byte, most_arguments * sizeof(Argument)> room;
  auto* const arguments = reinterpret_cast<Argument*>(room.data());
  std::uninitialized_copy_n(step.arguments.begin(), step.count, arguments);
  for (const auto& [at, given] : step.given) {
    arguments[at] = call.argument(given);
  }
  alignas(std::int64_t) std::array<std::byte, most_struct_bytes> filled;
  if (const std::size_t bytes = step.numbers.values.size(); bytes > 0) {
    std::ranges::copy(step.numbers.values, filled.begin());
    call.fill_in(filled.data(), step.numbers);
    arguments[step.numbers_at] = std::span<const std::byte>(filled.data(), bytes);
  }
  queue.launch(*step.kernel, step.geometry, {arguments, step.count});
}

SelfContainedPlan::SelfContainedPlan(const Plan& plan, Device& device, ProgramCache& programs)
    : plan_(plan, device, programs), scalars_(plan.scalars) {
  for (const std::size_t bytes : plan.workspace_bytes) {
    memory_.push_back(device.allocate(bytes));
    workspaces_.push_back({memory_.back().get()});
  }
}

BlankOperands::BlankOperands(const Problem& problem, Device& device) {
  const auto matrix = [&](std::int64_t elements) {
    return device.allocate(sizeof(float) * static_cast<std::size_t>(elements));
  };
  a_ = matrix(problem.a_extent());
  b_ = matrix(problem.b_extent());
  c_ = matrix(problem.c_extent());
}

}  // namespace duogemm
