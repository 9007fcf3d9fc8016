#include "fake_device.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "families/plan.h"

namespace duogemm::testing {
namespace {

Status status_of(Operation operation) {
  switch (operation) {
    case Operation::allocate:
      return Status::out_of_memory;
    case Operation::compile:
      return Status::build_failed;
    default:
      return Status::device_error;
  }
}

template <typename Struct>
Struct struct_of(std::span<const Argument> arguments) {
  Struct result;
  std::memcpy(&result, std::get<std::span<const std::byte>>(arguments[0]).data(), sizeof result);
  return result;
}

bool multiplies(const std::string& kernel) {
  return std::ranges::any_of(registry(), [&](const KernelSpec& spec) {
    return spec.name == kernel && spec.is_planned() && spec.family->multiplies_in(Precision::fp32);
  });
}

// Gives where in their buffers the matrices begin that a kernel's other arguments are.
std::vector<std::int64_t> offsets(const std::string& kernel, std::span<const Argument> arguments) {
  if (multiplies(kernel)) {
    const auto x = struct_of<GemmArguments>(arguments);
    return {x.a.offset, 0, x.b.offset, 0, x.c.offset, 0, x.d.offset, 0};
  }
  if (kernel == "pack") {
    const auto x = struct_of<PackArguments>(arguments);
    return {x.first.x.offset, 0, x.first.y.offset, x.second.x.offset, 0, x.second.y.offset};
  }
  if (kernel == "reduce") {
    const auto x = struct_of<ReduceArguments>(arguments);
    return {x.p_offset, x.c.offset, x.d.offset};
  }
  if (kernel == "finish") {
    const auto x = struct_of<FinishArguments>(arguments);
    return {x.t.offset, 0, x.c.offset, 0, x.d.offset, 0, 0, 0, x.bias_offset};
  }
  return std::vector<std::int64_t>(arguments.size());
}

const float* begin_of(const Argument& argument, std::int64_t offset) {
  const auto* buffer = std::get_if<const Buffer*>(&argument);
  return buffer != nullptr && *buffer != nullptr ? dynamic_cast<const FakeBuffer&>(**buffer).data() + offset
                                                 : nullptr;
}

// Does what the kernels that multiply do, for one matrix without transposes and without splits of k.
void multiply_naively(std::span<const Argument> arguments) {
  const auto x = struct_of<GemmArguments>(arguments);
  const float* a = begin_of(arguments[1], x.a.offset);
  const float* b = begin_of(arguments[3], x.b.offset);
  const float* c = begin_of(arguments[5], x.c.offset);
  float* d = const_cast<float*>(begin_of(arguments[7], x.d.offset));
  for (std::int64_t col = 0; col < x.N; ++col) {
    for (std::int64_t row = 0; row < x.M; ++row) {
      float sum = 0.0f;
      for (std::int64_t k = 0; k < x.K; ++k) {
        sum += a[k * x.a.ld + row] * b[col * x.b.ld + k];
      }
      d[col * x.d.ld + row] = x.alpha * sum + (x.beta == 0.0f ? 0.0f : x.beta * c[col * x.c.ld + row]);
    }
  }
}

}  // namespace

void Faults::require_memory(std::size_t bytes) const {
  if (bytes > memory) {
    throw Error(Status::out_of_memory, std::to_string(bytes) + " bytes");
  }
}

void Faults::pass(Operation operation) {
  const Turn turn;
  ++operations;
  allocations += operation == Operation::allocate;
  const bool lost = lost_from != 0 && operations >= lost_from;
  if (!lost && operations != fails_at) {
    return;
  }
  failed = failed.value_or(operation);
  if (lost) {
    throw Error(Status::device_error, "lost");
  }
  if (host_memory) {
    throw std::bad_alloc();
  }
  throw Error(status_of(operation), "failed");
}

void FakeQueue::start_write(const Buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
  faults_.pass(Operation::write);
  std::memcpy(dynamic_cast<const FakeBuffer&>(to).data() + offset / sizeof(float), from, bytes);
}

void FakeQueue::start_read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) {
  faults_.pass(Operation::read);
  std::memcpy(to, dynamic_cast<const FakeBuffer&>(from).data() + offset / sizeof(float), bytes);
}

void FakeQueue::launch(const Kernel& kernel, const Geometry&, std::span<const Argument> arguments) {
  before_launch();
  faults_.pass(Operation::launch);
  const std::string& entry = dynamic_cast<const FakeKernel&>(kernel).entry();
  const Turn turn;
  Launch launch{entry, std::exchange(barrier_, false), now.handle, std::this_thread::get_id(), {}};
  const std::vector<std::int64_t> begins = offsets(entry, arguments);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (const float* begin = begin_of(arguments[i], begins.at(i - 1))) {
      launch.begins.push_back(begin);
    }
  }
  faults_.launched.push_back(std::move(launch));
  if (faults_.idle) {
    return;
  }
  if (multiplies(entry)) {
    multiply_naively(arguments);
  }
}

}  // namespace duogemm::testing
