#include "runtime/tensor_trial.h"

#include <vector>

#include "plan/lower.h"
#include "runtime/executor.h"
#include "system/log.h"

namespace duogemm {
namespace {

constexpr std::int64_t size = 128;

float a_at(std::int64_t i, std::int64_t k) { return static_cast<float>((3 * i + 5 * k) % 17 - 8); }
float b_at(std::int64_t k, std::int64_t j) { return static_cast<float>((7 * k + 2 * j) % 13 - 6); }

std::vector<float> matrix(float (*at)(std::int64_t, std::int64_t)) {
  std::vector<float> values;
  for (std::int64_t col = 0; col < size; ++col) {
    for (std::int64_t row = 0; row < size; ++row) {
      values.push_back(at(row, col));
    }
  }
  return values;
}

float c_at(std::int64_t i, std::int64_t j) {
  float sum = 0.0f;
  for (std::int64_t k = 0; k < size; ++k) {
    sum += a_at(i, k) * b_at(k, j);
  }
  return sum;
}

bool multiplies_exactly(const KernelSpec& spec, Device& device, ProgramCache& programs) {
  Problem problem = Problem::packed(size, size, size);
  problem.precision = Precision::f16x3;
  const Schedule schedule = schedule_for({&spec}, problem, device.info());
  const SelfContainedPlan plan(lower(schedule, problem, device.info()), device, programs);
  const std::vector<float> expected = matrix(c_at);
  std::vector<float> c(expected.size(), -1.0f);
  const std::unique_ptr<Queue> queue = device.create_queue();
  const auto allocate = [&] { return device.allocate(sizeof(float) * c.size()); };
  const auto device_a = allocate(), device_b = allocate(), device_c = allocate();
  queue->write(*device_a, matrix(a_at).data(), sizeof(float) * c.size());
  queue->write(*device_b, matrix(b_at).data(), sizeof(float) * c.size());
  queue->write(*device_c, c.data(), sizeof(float) * c.size());
  plan.enqueue(*queue, {{{device_a.get()}, {device_b.get()}, {device_c.get()}}});
  queue->read(*device_c, c.data(), sizeof(float) * c.size());
  return c == expected;
}

bool works(const KernelSpec& spec, Device& device, ProgramCache& programs) {
  if (device.info().backend != "opencl") {
    return true;
  }
  try {
    const bool exact = multiplies_exactly(spec, device, programs);
    log_line("kernel " + spec.name + (exact ? " works on " : " gives wrong results on ") +
             device.info().name);
    return exact;
  } catch (const Error& error) {
    log_line("no kernel " + spec.name + " on " + device.info().name + ": " + error.what());
    return false;
  }
}

}  // namespace

const KernelSpec* working_tensor_kernel(Device& device, ProgramCache& programs) {
  for (const char* name : {"tensor", "tensor_mma"}) {
    const KernelSpec& spec = find_kernel(name);
    if (!unsupported_reason(spec, resolve(spec, {}), device.info()) && works(spec, device, programs)) {
      return &spec;
    }
  }
  return nullptr;
}

}  // namespace duogemm
