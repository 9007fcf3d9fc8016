#include "fake_device.h"

#include <cstring>
#include <new>
#include <tuple>
#include <utility>

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

// A kernel's arguments that are of one type.
template <typename T>
std::vector<T> all_of(std::span<const Argument> arguments) {
  std::vector<T> found;
  for (const Argument& argument : arguments) {
    if (const T* value = std::get_if<T>(&argument)) {
      found.push_back(*value);
    }
  }
  return found;
}

struct FakeMatrix {
  float* data;
  std::int64_t ld;

  float& operator()(std::int64_t row, std::int64_t col) const { return data[col * ld + row]; }
};

// The matrices among a kernel's arguments: each is a buffer that an offset and a leading dimension follow.
std::vector<FakeMatrix> matrices(std::span<const Argument> arguments) {
  std::vector<FakeMatrix> found;
  for (std::size_t i = 0; i + 2 < arguments.size(); ++i) {
    const auto* buffer = std::get_if<const Buffer*>(&arguments[i]);
    const auto* offset = std::get_if<std::int64_t>(&arguments[i + 1]);
    const auto* ld = std::get_if<std::int64_t>(&arguments[i + 2]);
    if (buffer && *buffer && offset && ld) {
      found.push_back({dynamic_cast<const FakeBuffer&>(**buffer).data() + *offset, *ld});
    }
  }
  return found;
}

// Does what the kernels that multiply do, for one matrix without transposes and without slices of k. Sizes
// and scalars are in BLAS's order, and sizes are first.
void multiply_naively(std::span<const Argument> arguments) {
  const std::vector<std::int64_t> sizes = all_of<std::int64_t>(arguments);
  const std::vector<float> scalars = all_of<float>(arguments);
  const std::vector<FakeMatrix> operands = matrices(arguments);
  const auto& [a, b, c] = std::tie(operands.at(0), operands.at(1), operands.at(2));
  for (std::int64_t col = 0; col < sizes.at(1); ++col) {
    for (std::int64_t row = 0; row < sizes.at(0); ++row) {
      float sum = 0.0f;
      for (std::int64_t k = 0; k < sizes.at(2); ++k) {
        sum += a(row, k) * b(k, col);
      }
      c(row, col) = scalars.at(0) * sum + (scalars.at(1) == 0.0f ? 0.0f : scalars.at(1) * c(row, col));
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
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<const Buffer*>(&arguments[i]);
    if (buffer != nullptr && *buffer != nullptr) {
      const auto* offset = i + 1 < arguments.size() ? std::get_if<std::int64_t>(&arguments[i + 1]) : nullptr;
      launch.begins.push_back(dynamic_cast<const FakeBuffer&>(**buffer).data() + (offset ? *offset : 0));
    }
  }
  faults_.launched.push_back(std::move(launch));
  if (faults_.idle) {
    return;
  }
  if (entry == "general" || entry == "pipelined" || entry == "skinny_columns" || entry == "skinny_dots") {
    multiply_naively(arguments);
  }
}

}  // namespace duogemm::testing
