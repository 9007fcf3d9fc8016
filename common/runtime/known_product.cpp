#include "runtime/known_product.h"

#include <vector>

namespace duogemm {
namespace {

float a_at(std::int64_t i, std::int64_t k) { return static_cast<float>((3 * i + 5 * k) % 17 - 8); }
float b_at(std::int64_t k, std::int64_t j) { return static_cast<float>((7 * k + 2 * j) % 13 - 6); }

std::vector<float> matrix(std::int64_t size, float (*at)(std::int64_t, std::int64_t)) {
  std::vector<float> values;
  for (std::int64_t col = 0; col < size; ++col) {
    for (std::int64_t row = 0; row < size; ++row) {
      values.push_back(at(row, col));
    }
  }
  return values;
}

// Matrices are stored by columns, one after the other.
std::vector<float> product(std::int64_t size, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(a.size(), 0.0f);
  const auto count = static_cast<std::size_t>(size);
  for (std::size_t col = 0; col < count; ++col) {
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t row = 0; row < count; ++row) {
        c[col * count + row] += a[k * count + row] * b[col * count + k];
      }
    }
  }
  return c;
}

}  // namespace

bool gives_known_product(std::int64_t size, Device& device,
                         const std::function<void(Queue&, const PreparedPlan::Operands&)>& multiply) {
  const std::vector<float> a = matrix(size, a_at);
  const std::vector<float> b = matrix(size, b_at);
  std::vector<float> c(a.size(), -1.0f);
  const std::size_t bytes = sizeof(float) * c.size();
  const auto device_a = device.allocate(bytes), device_b = device.allocate(bytes),
             device_c = device.allocate(bytes);
  const std::unique_ptr<Queue> queue = device.create_queue();  // gone before what it works on
  queue->write(*device_a, a.data(), bytes);
  queue->write(*device_b, b.data(), bytes);
  queue->write(*device_c, c.data(), bytes);
  multiply(*queue, {{{device_a.get()}, {device_b.get()}, {device_c.get()}}});
  queue->read(*device_c, c.data(), bytes);
  return c == product(size, a, b);
}

}  // namespace duogemm
