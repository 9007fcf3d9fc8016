// An item that compat/ maps, as a small kernel whose answers the host knows.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "draw.h"
#include "test_devices.h"

namespace duogemm::testing {

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float smallest_normal = std::numeric_limits<float>::min();
inline constexpr float smallest_denormal = std::numeric_limits<float>::denorm_min();

// The output before a kernel runs, and after it wherever it has no business: a NaN that no arithmetic makes.
inline constexpr std::uint32_t poison = 0x7fc0dead;
inline const float untouched = std::bit_cast<float>(poison);

// Errors in units in the last place, beyond which an answer is wrong. OpenCL states these for single
// precision; CUDA's are smaller.
inline constexpr int sqrt_ulps = 3;
inline constexpr int rsqrt_ulps = 2;
inline constexpr int exp_log_ulps = 3;

// The content of a buffer, as bits, and the type of element that the kernel sees in it.
struct Words {
  template <typename T>
  Words(const std::vector<T>& values)
      : type(std::is_same_v<T, float> ? "float"
             : std::is_signed_v<T>    ? "int"
                                      : "uint"),
        bits(values.size()) {
    static_assert(sizeof(T) == sizeof(std::uint32_t));
    std::memcpy(bits.data(), values.data(), values.size() * sizeof(T));
  }

  std::string text(std::uint32_t word) const {
    return type == "float" ? ::testing::PrintToString(std::bit_cast<float>(word))
           : type == "int" ? std::to_string(std::bit_cast<std::int32_t>(word))
                           : std::to_string(word);
  }

  std::string type;
  std::vector<std::uint32_t> bits;
};

// 64 values without a zero: eighths between -8 and 8, so that a * b + c is exact, fused or not.
std::vector<float> standard_input();

struct Item {
  std::string name;
  std::string body;  // statements that read `in` and write `out`; i is get_global_id(0)
  Words expected;    // in `out`
  Words input = standard_input();
  int ulps = 0;
  Geometry geometry = {{1, 1, 1}, {1, 1, 1}};
  std::string declarations = "";  // ahead of the kernel
  std::string attribute = "";     // of the kernel
  Defines defines = {};
};

void PrintTo(const Item& item, std::ostream* out);

ProgramSource program_of(const Item& item);

// Gives the content of the output and of what follows it.
std::vector<std::uint32_t> run(const Item& item, TestDevice& device);

void expect_answer(const Item& item, const std::vector<std::uint32_t>& result);

// Vectors of this width through READ_ONLY.
Item read_only_item(int width, int use_ldg);

// One that has to do with an attribute or a qualifier.
Item qualifier_item(const std::string& name, const std::string& body, const std::vector<float>& expected,
                    const std::string& declarations = "", const std::string& attribute = "");

// One item or more of each sort.
std::vector<Item> float_functions();
std::vector<Item> integer_functions();
std::vector<Item> vector_arithmetic();
std::vector<Item> vector_items();
std::vector<Item> qualifiers();
std::vector<Item> barriers();

}  // namespace duogemm::testing
