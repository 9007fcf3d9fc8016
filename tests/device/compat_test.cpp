// Every item that compat/ maps, as a small kernel whose answers the host knows: the same text must give them
// on every device of every backend. Where this build has CUDA, NVRTC compiles each text even without a
// device.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "draw.h"
#include "families/kernel_source.h"
#include "refusal.h"
#include "test_devices.h"

#ifdef DUOGEMM_WITH_CUDA
#include "nvrtc_compile.h"
#endif

namespace duogemm::testing {

void PrintTo(const DeviceName& name, std::ostream* out) { *out << name.text(); }

namespace {

// The output before a kernel runs, and after it wherever it has no business: a NaN that no arithmetic makes.
const float untouched = std::bit_cast<float>(0x7fc0deadu);

// 64 values without a zero: eighths between -8 and 8, so that a * b + c is exact, fused or not.
std::vector<float> standard_input() {
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) {
    values.push_back(static_cast<float>(4 * (i * 29 % 64) - 126) / 16.0f);
  }
  return values;
}

struct Item {
  std::string name;
  std::string body;             // statements that read `in` and write `out`; i is get_global_id(0)
  std::vector<float> expected;  // in `out`
  std::vector<float> input = standard_input();
  int ulps = 0;  // errors in units in the last place, beyond which an answer is wrong
  Geometry geometry = {{1, 1, 1}, {1, 1, 1}};
  std::string declarations = "";  // ahead of the kernel
  std::string attribute = "";     // of the kernel
  Defines defines = {};
};

void PrintTo(const Item& item, std::ostream* out) { *out << item.name; }

ProgramSource program_of(const Item& item) {
  const std::string text = "#include \"dialect.h\"\n" + item.declarations + "\n__kernel " + item.attribute +
                           " void item(const __global float* in, __global float* out) {\n"
                           "  const int i = (int)get_global_id(0);\n" +
                           item.body + "\n}\n";
  return {"item", complete_text(text), item.defines, false};
}

// Neighbouring floats have neighbouring numbers, through zero.
std::int64_t number_of(float value) {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::int64_t magnitude = word & 0x7fffffff;
  return word >> 31 ? -magnitude : magnitude;
}

bool agree(float result, float expected, int ulps) {
  return std::bit_cast<std::uint32_t>(result) == std::bit_cast<std::uint32_t>(expected) ||
         (ulps > 0 && !std::isnan(result) && !std::isnan(expected) &&
          std::abs(number_of(result) - number_of(expected)) <= ulps);
}

void expect_answer(const Item& item, TestDevice& on) {
  constexpr std::size_t guard = 16;  // elements after the output, to see a store that goes too far
  std::vector<float> result(item.expected.size() + guard, untouched);
  const auto in = on.device->allocate(sizeof(float) * item.input.size());
  const auto out = on.device->allocate(sizeof(float) * result.size());
  on.queue->write(*in, item.input.data(), sizeof(float) * item.input.size());
  on.queue->write(*out, result.data(), sizeof(float) * result.size());
  const auto kernel = on.device->compile(program_of(item));
  const Argument arguments[] = {in.get(), out.get()};
  on.queue->launch(*kernel, item.geometry, arguments);
  on.queue->read(*out, result.data(), sizeof(float) * result.size());
  for (std::size_t k = 0; k < result.size(); ++k) {
    const float expected = k < item.expected.size() ? item.expected[k] : untouched;
    EXPECT_TRUE(agree(result[k], expected, item.ulps))
        << "out[" << k << "] is " << result[k] << "; it must be " << expected << ", but for " << item.ulps
        << " ulp";
  }
}

// --- Functions of one value -----------------------------------------------------------------------------

// One work-item for each x in `input`.
Item function(const std::string& name, const std::string& expression, const std::vector<float>& input,
              const std::function<double(float)>& host, int ulps = 0) {
  std::vector<float> expected;
  for (const float x : input) {
    expected.push_back(static_cast<float>(host(x)));
  }
  return {.name = name,
          .body = "const float x = in[i];\nout[i] = (float)(" + expression + ");",
          .expected = expected,
          .input = input,
          .ulps = ulps,
          .geometry = {{1, 1, 1}, {input.size(), 1, 1}}};
}

// OpenCL states these errors for single precision; CUDA's are smaller.
std::vector<Item> functions() {
  const std::vector<float> any = standard_input();
  const std::vector<float> with_nan = {nan, -infinity, infinity, 0.0f, 2.0f, -2.0f};
  const std::vector<float> positive = {0.1f, 0.7f, 1.0f, 1.5f, 2.0f, 3.3f, 7.9f, 12.0f, 16.1f, 20.0f};
  const std::vector<float> whole = {0.0f, 1.0f, -1.0f, 100.0f, -100.0f, 0x1p30f, -0x1p30f};
  const std::vector<float> natural = {0.0f, 1.0f, 100.0f, 0x1p31f};
  return {
      function("min", "min(x, 1.5f)", any, [](float x) { return std::min(x, 1.5f); }),
      function("max", "max(x, 1.5f)", any, [](float x) { return std::max(x, 1.5f); }),
      function("fmin_nan", "fmin(x, 1.0f)", with_nan, [](float x) { return std::fmin(x, 1.0f); }),
      function("fmax_nan", "fmax(1.0f, x)", with_nan, [](float x) { return std::fmax(1.0f, x); }),
      function(
          "sqrt", "sqrt(x)", positive, [](double x) { return std::sqrt(x); }, 3),
      function(
          "rsqrt", "rsqrt(x)", positive, [](double x) { return 1 / std::sqrt(x); }, 2),
      function(
          "exp", "exp(x)", any, [](double x) { return std::exp(x); }, 3),
      function(
          "log", "log(x)", positive, [](double x) { return std::log(x); }, 3),
      function("min_int", "min((int)x, -5)", whole, [](float x) { return std::min(x, -5.0f); }),
      function("max_int", "max((int)x, -5)", whole, [](float x) { return std::max(x, -5.0f); }),
      function("min_uint", "min((uint)x, 5u)", natural, [](float x) { return std::min(x, 5.0f); }),
      function("max_uint", "max((uint)x, 5u)", natural, [](float x) { return std::max(x, 5.0f); }),
      // CUDA C++ has each of these for double as well; a float must not be led there.
      function("float_functions_stay_float",
               "sizeof(sqrt(x)) + sizeof(rsqrt(x)) + sizeof(exp(x)) + sizeof(log(x)) + sizeof(fabs(x)) + "
               "sizeof(fmin(x, x)) + sizeof(fmax(x, x)) + sizeof(fma(x, x, x)) + sizeof(max(x, x))",
               {1.0f}, [](float) { return 9.0 * 4.0; }),
  };
}

// --- Vectors --------------------------------------------------------------------------------------------

constexpr std::size_t vector_widths[] = {1, 2, 4, 8, 16};

std::string type_of(std::size_t width) { return "float" + std::to_string(width); }
std::string load(std::size_t width, const std::string& arguments) {
  return "vload" + std::to_string(width) + "(" + arguments + ")";
}
std::string store(std::size_t width, const std::string& arguments) {
  return "vstore" + std::to_string(width) + "(" + arguments + ");\n";
}

// Elementwise arithmetic. Each statement starts from r = a and leaves its answer in r; a, b and c are vectors
// of the first elements of `in`, s is a scalar.
struct Elementwise {
  using Host = std::function<float(float a, float b, float c, float s)>;
  std::string name;
  std::vector<std::pair<std::string, Host>> statements;
  std::vector<float> input = standard_input();
};

// As many work-items as it takes to see all of a, b and c, which are 16 floats of `in` each; then comes s.
Item arithmetic_item(const Elementwise& arithmetic, std::size_t width) {
  const std::string type = type_of(width);
  std::string body = "const " + type + " a = " + load(width, "i, in") + ", b = " + load(width, "i, in + 16") +
                     ", c = " + load(width, "i, in + 32") + ";\nconst float s = in[48];\n" + type + " r;\n";
  const std::vector<float>& in = arithmetic.input;
  std::vector<float> expected;
  for (const auto& [statement, host] : arithmetic.statements) {
    body += "r = a;\n" + statement + ";\n" + store(width, "r, i, out + " + std::to_string(expected.size()));
    for (std::size_t e = 0; e < 16; ++e) {
      expected.push_back(host(in[e], in[16 + e], in[32 + e], in[48]));
    }
  }
  return {.name = arithmetic.name + "_" + type,
          .body = body,
          .expected = expected,
          .input = in,
          .geometry = {{1, 1, 1}, {16 / width, 1, 1}},
          .defines = {{"WIDTH", static_cast<int>(width)}}};
}

// a, b, c and s the same for every element.
std::vector<float> uniform_input(float a, float b, float c, float s) {
  std::vector<float> input;
  for (float value : {a, b, c, s}) {
    input.insert(input.end(), 16, value);
  }
  return input;
}

Elementwise operator_in_every_form(const std::string& name, const std::string& symbol,
                                   const std::function<float(float, float)>& host) {
  const auto with_vector = [host](float a, float b, float, float) { return host(a, b); };
  const auto with_scalar = [host](float a, float, float, float s) { return host(a, s); };
  const auto scalar_first = [host](float a, float, float, float s) { return host(s, a); };
  return {name,
          {{"r = a " + symbol + " b", with_vector},
           {"r = a " + symbol + " s", with_scalar},
           {"r = s " + symbol + " a", scalar_first},
           {"r " + symbol + "= b", with_vector},
           {"r " + symbol + "= s", with_scalar}}};
}

std::vector<Item> vector_arithmetic() {
  // The square of 1 + 2^-12 is 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11: only a fused multiply-add has
  // the last term left.
  const float root = 1.0f + 0x1p-12f;
  const std::vector<float> contracting = uniform_input(root, root, -(1.0f + 0x1p-11f), 0.0f);
  const float denormal = std::numeric_limits<float>::denorm_min();
  const std::vector<float> small = uniform_input(0x1p-126f, -3 * denormal, denormal, 0.5f);
  const auto zero = [](float, float, float, float) { return 0.0f; };
  const Elementwise all[] = {
      operator_in_every_form("plus", "+", std::plus<>()),
      operator_in_every_form("minus", "-", std::minus<>()),
      operator_in_every_form("times", "*", std::multiplies<>()),
      {"widening",
       {{"r = s", [](float, float, float, float s) { return s; }},
        {"r = (FLOAT(WIDTH))(s)", [](float, float, float, float s) { return s; }},
        {"r = 3 * a", [](float a, float, float, float) { return 3 * a; }}}},
      {"fma", {{"r = fma(a, b, c)", [](float a, float b, float c, float) { return std::fma(a, b, c); }}}},
      {"not_contracted",
       {{"r = a * b + c", zero},
        {"r = c + a * b", zero},
        {"r = a * b; r += c", zero},
        {"r = c; r += a * b", zero},
        {"r = fma(a, b, c)", [](float, float, float, float) { return 0x1p-24f; }}},
       contracting},
      {"denormals",
       {{"r = a * s", [](float a, float, float, float s) { return a * s; }},
        {"r = b", [](float, float b, float, float) { return b; }},
        {"r = b + c", [](float, float b, float c, float) { return b + c; }},
        {"r = a + b", [](float a, float b, float, float) { return a + b; }},
        {"r = fma(a, r - a + s, b)", [](float a, float b, float, float s) { return std::fma(a, s, b); }}},
       small},
  };
  std::vector<Item> items;
  for (const Elementwise& arithmetic : all) {
    for (const std::size_t width : vector_widths) {
      items.push_back(arithmetic_item(arithmetic, width));
    }
  }
  return items;
}

// The names of each element: s0 to sF, s0 to sf, and x to w.
std::vector<std::pair<std::string, std::size_t>> members_of(std::size_t width) {
  std::vector<std::pair<std::string, std::size_t>> members;
  for (std::size_t e = 0; e < width; ++e) {
    members.emplace_back(std::string("s") + "0123456789ABCDEF"[e], e);
    if (e >= 10) {
      members.emplace_back(std::string("s") + "abcdef"[e - 10], e);
    }
    if (width <= 4) {
      members.emplace_back(std::string(1, "xyzw"[e]), e);
    }
  }
  return members;
}

// Each member read, then each written in a copy of the vector.
Item members_item(std::size_t width) {
  const std::vector<float> in = standard_input();
  std::string body = type_of(width) + " r;\nconst " + type_of(width) + " a = " + load(width, "0, in") + ";\n";
  std::vector<float> expected;
  for (const auto& [name, element] : members_of(width)) {
    body += "out[" + std::to_string(expected.size()) + "] = a." + name + ";\n";
    expected.push_back(in[element]);
  }
  for (const auto& [name, element] : members_of(width)) {
    body += "r = a;\nr." + name + " = in[" + std::to_string(63 - element) + "];\n" +
            store(width, "r, 0, out + " + std::to_string(expected.size()));
    std::vector<float> changed(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(width));
    changed[element] = in[63 - element];
    expected.insert(expected.end(), changed.begin(), changed.end());
  }
  return {.name = "members_" + type_of(width), .body = body, .expected = expected};
}

// vload and vstore ask for the alignment of a float only.
Item load_store_item(std::size_t width) {
  const std::vector<float> in = standard_input();
  std::vector<float> expected(3 + 3 * width, untouched);
  std::copy_n(in.data() + 1 + width, width, expected.data() + 3 + 2 * width);
  return {.name = "load_store_" + type_of(width),
          .body = store(width, load(width, "1, in + 1") + ", 2, out + 3"),
          .expected = expected};
}

Item read_only_item(std::size_t width, int use_ldg) {
  const std::vector<float> in = standard_input();
  const std::string read =
      "READ_ONLY(" + std::to_string(width) + ", (const __global " + type_of(width) + "*)in + 1)";
  return {.name = "read_only_" + type_of(width) + "_ldg" + std::to_string(use_ldg),
          .body = store(width, read + ", 0, out"),
          .expected = std::vector<float>(in.data() + width, in.data() + 2 * width),
          .defines = {{"USE_LDG", use_ldg}}};
}

std::vector<Item> vector_items() {
  std::vector<Item> items;
  for (const std::size_t width : vector_widths) {
    items.push_back(load_store_item(width));
    items.push_back(read_only_item(width, 0));
    items.push_back(read_only_item(width, 1));
    if (width > 1) {
      items.push_back(members_item(width));
    }
  }
  return items;
}

// --- Qualifiers and barriers ----------------------------------------------------------------------------

Item qualifier_item(const std::string& name, const std::string& body, const std::vector<float>& expected,
                    const std::string& declarations = "", const std::string& attribute = "") {
  return {.name = name,
          .body = body,
          .expected = expected,
          .geometry = {{1, 1, 1}, {expected.size(), 1, 1}},
          .declarations = declarations,
          .attribute = attribute};
}

std::vector<Item> qualifiers() {
  const std::vector<float> in = standard_input();
  const std::vector<float> first = {in[0], in[1], in[2], in[3]};
  return {
      qualifier_item("constant_table", "out[i] = table[i] * 2.0f;", {2.0f, -4.0f, 8.0f, 1.0f},
                     "__constant float table[4] = {1.0f, -2.0f, 4.0f, 0.5f};"),
      qualifier_item(
          "restrict_pointers",
          "const __global float* restrict from = in;\n__global float* restrict to = out;\nto[i] = from[i];",
          first),
      qualifier_item(
          "private_array",
          "__private float copy[4];\nfor (int k = 0; k < 4; ++k) copy[k] = in[k];\nout[i] = copy[i];", first),
      qualifier_item("local_pointer",
                     "__local float tile[8];\n"
                     "LOCAL_PTR float* upper = tile + 4;\n"
                     "const LOCAL_PTR float* all = tile;\n"
                     "upper[i] = in[i];\n"
                     "barrier(CLK_LOCAL_MEM_FENCE);\n"
                     "out[i] = all[4 + (i ^ 1)];",
                     {in[1], in[0], in[3], in[2]}),
      qualifier_item("reqd_work_group_size", "out[i] = in[i];", first, "",
                     "__attribute__((reqd_work_group_size(4, 1, 1)))"),
      {.name = "integer_types",
       .body = "out[0] = sizeof(uchar);\nout[1] = sizeof(ushort);\nout[2] = sizeof(uint);\n"
               "out[3] = sizeof(ulong);\nout[4] = (uchar)-1;\nout[5] = (ushort)-1;\n"
               "out[6] = (uint)-1 >> 31;\nout[7] = (ulong)-1 >> 63;",
       .expected = {1, 2, 4, 8, 255, 65535, 1, 1}},
  };
}

// Two work-groups of 64: more than one warp each, so that a barrier has something to do.
Item exchange_item(const std::string& name, const std::string& body,
                   std::size_t (*partner)(std::size_t local)) {
  std::vector<float> input;
  std::vector<float> expected;
  for (std::size_t item = 0; item < 128; ++item) {
    input.push_back(static_cast<float>(item));
    expected.push_back(static_cast<float>(item - item % 64 + partner(item % 64)));
  }
  return {.name = name,
          .body = "const int l = (int)get_local_id(0);\n" + body,
          .expected = expected,
          .input = input,
          .geometry = {{2, 1, 1}, {64, 1, 1}}};
}

std::vector<Item> barriers() {
  return {
      exchange_item("barrier_local",
                    "__local float tile[64];\n"
                    "tile[l] = in[i];\n"
                    "barrier(CLK_LOCAL_MEM_FENCE);\n"
                    "out[i] = tile[63 - l];",
                    [](std::size_t local) { return 63 - local; }),
      exchange_item("barrier_global",
                    "out[i] = in[i];\n"
                    "barrier(CLK_GLOBAL_MEM_FENCE);\n"
                    "const float partners = out[i ^ 32];\n"
                    "barrier(CLK_GLOBAL_MEM_FENCE);\n"
                    "out[i] = partners;",
                    [](std::size_t local) { return local ^ 32; }),
      exchange_item("barrier_in_a_loop",
                    "__local float tile[64];\n"
                    "float value = in[i];\n"
                    "for (int k = 0; k < 5; ++k) {\n"
                    "  tile[l] = value;\n"
                    "  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
                    "  value = tile[(l + 33) % 64];\n"
                    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
                    "}\n"
                    "out[i] = value;",
                    [](std::size_t local) { return (local + 5 * 33) % 64; }),
      // There is nothing to wait for where nothing was started early.
      exchange_item("await_step_before", "GRID_DEPENDENCY_WAIT();\nout[i] = in[i];",
                    [](std::size_t local) { return local; }),
  };
}

std::vector<Item> all_items() {
  std::vector<Item> items;
  for (auto part : {qualifiers, barriers, vector_items, vector_arithmetic, functions}) {
    std::ranges::move(part(), std::back_inserter(items));
  }
  return items;
}

class EveryItem : public ::testing::TestWithParam<std::tuple<DeviceName, Item>> {};

TEST_P(EveryItem, GivesTheExpectedAnswer) {
  const auto& [name, item] = GetParam();
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, name);
  expect_answer(item, device);
}

INSTANTIATE_TEST_SUITE_P(Compat, EveryItem,
                         ::testing::Combine(::testing::ValuesIn(test_devices()),
                                            ::testing::ValuesIn(all_items())),
                         [](const auto& info) {
                           return std::get<DeviceName>(info.param).text() + "_" +
                                  std::get<Item>(info.param).name;
                         });

// --- What depends on the device -------------------------------------------------------------------------

// Neighbouring lanes exchange their values; every work-item also gets that of its sub-group's first lane and
// tells its own lane. The work-group has three dimensions, along which lanes must count in order.
Item shuffle_item(std::size_t sub_group) {
  std::vector<float> input;
  std::vector<float> expected;
  for (std::size_t item = 0; item < 128; ++item) {
    const std::size_t lane = item % 64 % sub_group;
    input.push_back(static_cast<float>(item));
    expected.push_back(static_cast<float>(item - lane + (lane ^ 1)));
    expected.push_back(static_cast<float>(item - lane));
    expected.push_back(static_cast<float>(lane));
  }
  return {.name = "shuffle",
          .body =
              "const int l = (int)(get_local_id(0) + 8 * (get_local_id(1) + 4 * get_local_id(2)));\n"
              "const int item_number = 64 * (int)get_group_id(0) + l;\n"
              "const float value = in[item_number];\n"
              "out[3 * item_number] = SHUFFLE(value, SUB_GROUP_LANE() ^ 1);\n"
              "out[3 * item_number + 1] = SHUFFLE(value, 0);\n"
              "out[3 * item_number + 2] = (float)SUB_GROUP_LANE();",
          .expected = expected,
          .input = input,
          .geometry = {{2, 1, 1}, {8, 4, 2}},
          .defines = {{"USE_SHUFFLE", 1}}};
}

class CompatDevice : public ::testing::TestWithParam<DeviceName> {};

TEST_P(CompatDevice, ShufflesWithinASubGroup) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  if (!device.device->info().shuffle) {
    GTEST_SKIP() << device.device->info().name << " has no shuffle";
  }
  const Item unsized = shuffle_item(1);
  const auto kernel = device.device->compile(program_of(unsized));
  expect_answer(shuffle_item(kernel->sub_group_size(unsized.geometry.local)), device);
}

// The words that the executor looks for in the compiler's log.
TEST_P(CompatDevice, SaysThatItHasNoShuffle) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  if (device.device->info().shuffle) {
    GTEST_SKIP() << device.device->info().name << " has shuffles";
  }
  const std::string said =
      refusal([&] { device.device->compile(program_of(shuffle_item(1))); }, Status::build_failed);
  EXPECT_NE(said.find("unsupported: USE_SHUFFLE"), std::string::npos) << said;
}

TEST_P(CompatDevice, RefusesALargerWorkGroupThanRequired) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  Item item = qualifier_item("small_group", "out[i] = in[i];", std::vector<float>(8), "",
                             "__attribute__((reqd_work_group_size(4, 1, 1)))");
  EXPECT_THROW(expect_answer(item, device), Error);
}

INSTANTIATE_TEST_SUITE_P(Compat, CompatDevice, ::testing::ValuesIn(test_devices()), device_name);

// --- CUDA's side, compiled ------------------------------------------------------------------------------

#ifdef DUOGEMM_WITH_CUDA

class EveryItemInCuda : public ::testing::TestWithParam<Item> {};

TEST_P(EveryItemInCuda, Compiles) {
  EXPECT_FALSE(cuda::compile_with_nvrtc(program_of(GetParam()), 90).image.empty());
}

std::vector<Item> all_items_with_shuffle() {
  std::vector<Item> items = all_items();
  items.push_back(shuffle_item(32));
  return items;
}

INSTANTIATE_TEST_SUITE_P(Compat, EveryItemInCuda, ::testing::ValuesIn(all_items_with_shuffle()),
                         [](const auto& info) { return info.param.name; });

// There is no compute capability 9.1; for one that NVRTC does not know the answer is PTX, which can be read.
std::string ptx_of(const Item& item) { return cuda::compile_with_nvrtc(program_of(item), 91).image; }

::testing::AssertionResult has(const std::string& ptx, const std::string& instruction) {
  return ptx.find(instruction) != std::string::npos ? ::testing::AssertionSuccess()
                                                    : ::testing::AssertionFailure() << instruction << " in:\n"
                                                                                    << ptx;
}

TEST(CompatPtx, RequiredWorkGroupSizeIsALaunchBound) {
  const Item item = qualifier_item("bounded", "out[i] = in[i];", {0.0f}, "",
                                   "__attribute__((reqd_work_group_size(4, 3, 2)))");
  EXPECT_TRUE(has(ptx_of(item), ".maxntid 24"));
}

TEST(CompatPtx, ReadOnlyLoadsAreNonCoherentOnlyWithLdg) {
  EXPECT_TRUE(has(ptx_of(read_only_item(1, 1)), "ld.global.nc.f32"));
  for (const std::size_t width : {4, 8, 16}) {
    EXPECT_TRUE(has(ptx_of(read_only_item(width, 1)), "ld.global.nc.v4.f32"));
    EXPECT_FALSE(has(ptx_of(read_only_item(width, 0)), "ld.global.nc"));
  }
}

TEST(CompatPtx, ShuffleIsSynchronised) { EXPECT_TRUE(has(ptx_of(shuffle_item(32)), "shfl.sync.idx")); }

TEST(CompatPtx, ClustersNeedComputeCapability90) {
  const std::string text = complete_text(
      "#include \"dialect.h\"\n"
      "__kernel void clustered(__global float* out) {\n"
      "  __local float shared[1];\n"
      "  shared[0] = out[0];\n"
      "#if CLUSTERS\n"
      "  CLUSTER_BARRIER();\n"
      "  out[0] = READ_IN_CLUSTER(1, shared, 1);\n"
      "  CLUSTER_BARRIER_RELAXED();\n"
      "#endif\n"
      "}\n");
  const auto ptx = [&](int capability) {
    return cuda::compile_with_nvrtc({"clustered", text, {}, false}, capability, true).ptx;
  };
  EXPECT_TRUE(has(ptx(90), "barrier.cluster.arrive.aligned") && has(ptx(90), "ld.shared::cluster"));
  EXPECT_TRUE(has(ptx(90), "barrier.cluster.arrive.relaxed.aligned"));
  EXPECT_FALSE(has(ptx(89), "cluster."));
}

#endif

}  // namespace
}  // namespace duogemm::testing
