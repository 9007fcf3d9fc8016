// The runtime makes numbers of a launch's arguments. check_program.py asks what runs on a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "families/plan.h"
#include "page/settings.h"
#include "runtime/webgpu_kernel.h"

namespace duogemm {
namespace {

// A number by the name that the shader has for it.
std::uint32_t number(const webgpu::Shader& shader, const std::vector<std::uint32_t>& numbers,
                     const std::string& name) {
  const auto found = std::ranges::find(shader.numbers, name, &webgpu::Shader::Number::name);
  return numbers.at(static_cast<std::size_t>(found - shader.numbers.begin()));
}

webgpu::Shader shader_of(const char* kernel) {
  const KernelSpec& spec = any_kernel(kernel);
  return webgpu::translate(kernel_text(spec.path), resolve(spec, {}));
}

TEST(WebGpuRuntime, TakesNumbersInTheOrderOfTheKernel) {
  const webgpu::Shader shader = shader_of("pad");
  const Argument arguments[] = {std::int32_t{7},
                                5,
                                9,
                                static_cast<const Buffer*>(nullptr),
                                16,
                                8,
                                -0.0f,
                                static_cast<const Buffer*>(nullptr)};
  const std::vector<std::uint32_t> numbers = webgpu::numbers_of(shader, arguments);
  ASSERT_EQ(numbers.size(), shader.numbers.size());
  EXPECT_EQ(number(shader, numbers, "ld"), 9U);
  EXPECT_EQ(number(shader, numbers, "padded_cols"), 8U);
  EXPECT_EQ(number(shader, numbers, "fill"), 0x80000000U);
}

TEST(WebGpuRuntime, TakesTheMembersOfAStruct) {
  const webgpu::Shader shader = shader_of("reduce");
  ReduceArguments sizes{};
  sizes.M = 11;
  sizes.ldp = 13;
  sizes.alpha = 2.0f;
  sizes.beta = -1.0f;
  sizes.d.ld = 17;
  sizes.c.offset = -3;
  sizes.batch = 19;
  const auto numbers_of = [&] {
    const Argument argument = std::as_bytes(std::span(&sizes, 1));
    return webgpu::numbers_of(shader, {&argument, 1});
  };
  const std::vector<std::uint32_t> numbers = numbers_of();
  ASSERT_EQ(numbers.size(), shader.numbers.size());
  EXPECT_EQ(number(shader, numbers, "M"), 11U);
  EXPECT_EQ(number(shader, numbers, "ldp"), 13U);
  EXPECT_EQ(number(shader, numbers, "alpha"), std::bit_cast<std::uint32_t>(2.0f));
  EXPECT_EQ(number(shader, numbers, "beta"), std::bit_cast<std::uint32_t>(-1.0f));
  EXPECT_EQ(number(shader, numbers, "d_ld"), 17U);
  EXPECT_EQ(number(shader, numbers, "c_offset"), 0xfffffffdU);
  EXPECT_EQ(number(shader, numbers, "batch"), 19U);
  sizes.d.stride = std::int64_t{1} << 31;
  try {
    numbers_of();
    FAIL() << "a number of 64 bits was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported);
    EXPECT_NE(std::string(error.what()).find("2147483648"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace duogemm
