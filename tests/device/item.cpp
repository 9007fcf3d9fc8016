#include "item.h"

#include <cmath>

#include "families/kernel_source.h"

namespace duogemm::testing {
namespace {

// Neighbouring floats have neighbouring numbers, through zero.
std::int64_t number_of(std::uint32_t word) {
  const std::int64_t magnitude = word & 0x7fffffff;
  return word >> 31 ? -magnitude : magnitude;
}

bool agree(std::uint32_t result, std::uint32_t expected, int ulps) {
  const bool numbers =
      !std::isnan(std::bit_cast<float>(result)) && !std::isnan(std::bit_cast<float>(expected));
  return result == expected ||
         (ulps > 0 && numbers && std::abs(number_of(result) - number_of(expected)) <= ulps);
}

}  // namespace

std::vector<float> standard_input() {
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) {
    values.push_back(static_cast<float>(4 * (i * 29 % 64) - 126) / 16.0f);
  }
  return values;
}

void PrintTo(const Item& item, std::ostream* out) { *out << item.name; }

ProgramSource program_of(const Item& item) {
  const std::string text = "#include \"dialect.h\"\n" + item.declarations + "\n__kernel " + item.attribute +
                           " void item(const __global " + item.input.type + "* in, __global " +
                           item.expected.type + "* out) {\n  const int i = (int)get_global_id(0);\n" +
                           item.body + "\n}\n";
  return {"item", complete_text(text), item.defines, false};
}

std::vector<std::uint32_t> run(const Item& item, TestDevice& device) {
  constexpr std::size_t guard = 16;  // words after the output, to see a store that goes too far
  std::vector<std::uint32_t> result(item.expected.bits.size() + guard, poison);
  const std::size_t in_bytes = item.input.bits.size() * sizeof(std::uint32_t);
  const std::size_t out_bytes = result.size() * sizeof(std::uint32_t);
  const auto in = device.device->allocate(in_bytes);
  const auto out = device.device->allocate(out_bytes);
  device.queue->write(*in, item.input.bits.data(), in_bytes);
  device.queue->write(*out, result.data(), out_bytes);
  const auto kernel = device.device->compile(program_of(item));
  const Argument arguments[] = {in.get(), out.get()};
  device.queue->launch(*kernel, item.geometry, arguments);
  device.queue->read(*out, result.data(), out_bytes);
  return result;
}

void expect_answer(const Item& item, const std::vector<std::uint32_t>& result) {
  for (std::size_t k = 0; k < result.size(); ++k) {
    const std::uint32_t expected = k < item.expected.bits.size() ? item.expected.bits[k] : poison;
    EXPECT_TRUE(agree(result[k], expected, item.ulps))
        << "out[" << k << "] is " << item.expected.text(result[k]) << "; it must be "
        << item.expected.text(expected) << (item.ulps > 0 ? " or within " : "")
        << (item.ulps > 0 ? std::to_string(item.ulps) + " ulp" : "");
  }
}

}  // namespace duogemm::testing
