// Conversions of elements of 16 bits: every one that there is to FP32, and to them numbers of all exponents,
// with ties, by the host and by the device.
#include "narrow.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "draw.h"
#include "refusal.h"
#include "runtime/runtime.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

constexpr std::int64_t count = 1 << 16;
constexpr ElementType narrow_types[] = {ElementType::bf16, ElementType::fp16};

// A column times 1.
Sgemm column(ElementType a_type, ElementType c_type) {
  Sgemm problem = Sgemm::packed(Layout::column_major, count, 1, 1);
  problem.a_type = a_type;
  problem.c_type = c_type;
  return problem;
}

std::vector<std::uint16_t> every_element() {
  std::vector<std::uint16_t> all(count);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<std::uint16_t>(i);
  }
  return all;
}

// Numbers of 16 bits, numbers half way to the next, and others, with those that are too large for FP16 and
// too small.
std::vector<float> numbers_to_round(ElementType type) {
  Draw draw(1);
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto bits = static_cast<std::uint16_t>(draw.between(0, 0xffff));
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const float value = value_of(bits, type);
    const double half = (magnitude_of(bits & 0x7fff, type) + magnitude_of(next & 0x7fff, type)) / 2;
    const auto any = static_cast<std::uint32_t>(draw.between(0, 0x7ffffffe)) * 2u + bits % 2u;
    numbers[i] = i % 3 == 0   ? value
                 : i % 3 == 1 ? std::copysign(static_cast<float>(half), value)
                              : std::bit_cast<float>(any);
  }
  return numbers;
}

using Multiply = std::function<void(const Sgemm&, const void* a, const void* b, void* c)>;

void check_conversions(const Multiply& multiply) {
  const float one = 1.0f;
  for (const ElementType type : narrow_types) {
    const std::vector<std::uint16_t> elements = every_element();
    std::vector<float> found(count);
    multiply(column(type, ElementType::fp32), elements.data(), &one, found.data());
    const std::vector<float> numbers = numbers_to_round(type);
    std::vector<std::uint16_t> rounded(count);
    multiply(column(ElementType::fp32, type), numbers.data(), &one, rounded.data());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const float value = value_of(elements[i], type);
      ASSERT_TRUE(found[i] == value || (std::isnan(found[i]) && std::isnan(value)))
          << to_text(type) << " " << i << " is " << found[i];
      const float owed = value_of(nearest_bits(numbers[i], type), type);
      const float as_rounded = value_of(rounded[i], type);
      ASSERT_TRUE(as_rounded == owed || (std::isnan(as_rounded) && std::isnan(owed)))
          << numbers[i] << " in " << to_text(type) << " is " << as_rounded;
    }
  }
}

class NarrowOnHost : public ContextTest {};

TEST_P(NarrowOnHost, ConvertsEveryElement) {
  check_conversions([&](const Sgemm& problem, const void* a, const void* b, void* c) {
    context_->sgemm(problem, a, b, c);
  });
}

TEST_P(NarrowOnHost, IsDoneOnceTheResultIsRounded) {
  const std::vector<float> ones(count, 1.0f);
  std::vector<std::uint16_t> found(count);
  bool done = false;
  context_->sgemm(column(ElementType::fp32, ElementType::bf16), ones.data(), ones.data(), found.data(),
                  [&](const CallProgress& now) {
                    EXPECT_EQ(found.back(), now.fraction == 1.0 ? nearest_bits(1.0f, ElementType::bf16) : 0);
                    done = done || now.fraction == 1.0;
                  });
  EXPECT_TRUE(done);
}

class NarrowOnDevice : public DeviceTest {};

TEST_P(NarrowOnDevice, ConvertsEveryElement) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(opened, GetParam());
  Runtime runtime(GetParam().backend->open(GetParam().index, {}));
  check_conversions([&](const Sgemm& request, const void* a, const void* b, void* c) {
    Device& device = runtime.device();
    const Problem problem{request};
    const std::size_t a_bytes = count * bytes_of(problem.a_type), c_bytes = count * bytes_of(problem.c_type);
    const auto device_a = device.allocate(a_bytes), device_b = device.allocate(sizeof(float)),
               device_c = device.allocate(c_bytes);
    const std::unique_ptr<Queue> queue = device.create_queue();
    queue->write(*device_a, a, a_bytes);
    queue->write(*device_b, b, sizeof(float));
    runtime.enqueue(problem, *queue, {{{device_a.get()}, {device_b.get()}, {device_c.get()}}});
    queue->read(*device_c, c, c_bytes);
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, NarrowOnHost, ::testing::ValuesIn(test_devices()), device_name);
INSTANTIATE_TEST_SUITE_P(Devices, NarrowOnDevice, ::testing::ValuesIn(test_devices()), device_name);

}  // namespace
}  // namespace duogemm::testing
