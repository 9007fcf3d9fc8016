// Every item that compat/ maps, as a small kernel whose answers the host knows: the same text must give them
// on every device of every backend. Where this build has CUDA, NVRTC compiles each text even without a
// device.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "kernels/kernel_source.h"
#include "test_devices.h"

#ifdef DUOGEMM_WITH_CUDA
#include "nvrtc_compile.h"
#endif

namespace duogemm::testing {

void PrintTo(const DeviceName& name, std::ostream* out) { *out << name.text(); }

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float smallest_normal = std::numeric_limits<float>::min();
constexpr float smallest_denormal = std::numeric_limits<float>::denorm_min();

// The output before a kernel runs, and after it wherever it has no business: a NaN that no arithmetic makes.
constexpr std::uint32_t poison = 0x7fc0dead;
const float untouched = std::bit_cast<float>(poison);

// Errors in units in the last place, beyond which an answer is wrong. OpenCL states these for single
// precision; CUDA's are smaller.
constexpr int division_ulps = 3;
constexpr int sqrt_ulps = 3;
constexpr int rsqrt_ulps = 2;
constexpr int exp_log_ulps = 3;

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
std::vector<float> standard_input() {
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) {
    values.push_back(static_cast<float>(4 * (i * 29 % 64) - 126) / 16.0f);
  }
  return values;
}

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

void PrintTo(const Item& item, std::ostream* out) { *out << item.name; }

ProgramSource program_of(const Item& item) {
  const std::string text = "#include \"dialect.h\"\n" + item.declarations + "\n__kernel " + item.attribute +
                           " void item(const __global " + item.input.type + "* in, __global " +
                           item.expected.type + "* out) {\n  const int i = (int)get_global_id(0);\n" +
                           item.body + "\n}\n";
  return {"item", complete_text(text), item.defines, false};
}

std::vector<std::uint32_t> run(const Item& item, TestDevice& device) {
  constexpr std::size_t guard = 16;  // words behind the output, to see a store that goes too far
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

void expect_answer(const Item& item, const std::vector<std::uint32_t>& result) {
  for (std::size_t k = 0; k < result.size(); ++k) {
    const std::uint32_t expected = k < item.expected.bits.size() ? item.expected.bits[k] : poison;
    EXPECT_TRUE(agree(result[k], expected, item.ulps))
        << "out[" << k << "] is " << item.expected.text(result[k]) << "; it must be "
        << item.expected.text(expected) << (item.ulps > 0 ? " or within " : "")
        << (item.ulps > 0 ? std::to_string(item.ulps) + " ulp" : "");
  }
}

// --- Functions of one value -----------------------------------------------------------------------------

// One work-item for each x in `input`.
template <typename T, typename Host>
Item function(const std::string& name, const std::string& expression, const std::vector<T>& input, Host host,
              int ulps = 0) {
  std::vector<std::decay_t<decltype(host(input[0]))>> expected;
  for (T x : input) {
    expected.push_back(host(x));
  }
  const Words in(input);
  return {.name = name,
          .body = "const " + in.type + " x = in[i];\nout[i] = " + expression + ";",
          .expected = expected,
          .input = in,
          .ulps = ulps,
          .geometry = {{1, 1, 1}, {input.size(), 1, 1}}};
}

// Rounded once from the result in double.
auto in_double(double (*host)(double)) {
  return [host](float x) { return static_cast<float>(host(x)); };
}

std::vector<float> between(float low, float high) {
  std::vector<float> values;
  for (int i = 0; i <= 15; ++i) {
    values.push_back(low + (high - low) * static_cast<float>(i) / 15.0f);
  }
  return values;
}

std::vector<Item> float_functions() {
  const std::vector<float> any = standard_input();
  const std::vector<float> with_nan = {not_a_number, -infinity, infinity, 0.0f, 2.0f, -2.0f};
  const auto positive = between(0.1f, 20.0f);
  return {
      function("clamp", "clamp(x, -1.5f, 2.25f)", any, [](float x) { return std::clamp(x, -1.5f, 2.25f); }),
      function("min", "min(x, 1.5f)", any, [](float x) { return std::min(x, 1.5f); }),
      function("max", "max(x, 1.5f)", any, [](float x) { return std::max(x, 1.5f); }),
      function("fmin_nan", "fmin(x, 1.0f)", with_nan, [](float x) { return std::fmin(x, 1.0f); }),
      function("fmax_nan", "fmax(1.0f, x)", with_nan, [](float x) { return std::fmax(1.0f, x); }),
      function("sqrt", "sqrt(x)", positive, in_double(std::sqrt), sqrt_ulps),
      function("rsqrt", "rsqrt(x)", positive, in_double([](double x) { return 1 / std::sqrt(x); }),
               rsqrt_ulps),
      function("exp", "exp(x)", any, in_double(std::exp), exp_log_ulps),
      function("log", "log(x)", positive, in_double(std::log), exp_log_ulps),
      // CUDA C++ has each of these for double as well; a float must not be led there.
      function("float_functions_stay_float",
               "sizeof(sqrt(x)) + sizeof(rsqrt(x)) + sizeof(exp(x)) + sizeof(log(x)) + sizeof(fabs(x)) + "
               "sizeof(fmin(x, x)) + sizeof(fmax(x, x)) + sizeof(fma(x, x, x)) + sizeof(max(x, x))",
               std::vector<float>{1.0f}, [](float) { return 9u * 4u; }),
  };
}

std::vector<Item> integer_functions() {
  const std::vector<int> any = {0, 1, -1, 100, -100, 1 << 30, -(1 << 30)};
  const std::vector<unsigned> any_unsigned = {0, 1, 100, 0x80000000, 0xffffffff};
  // The ends of 24 bits: the product needs 32 and more.
  const std::vector<int> bits24 = {0, 1, -1, 77, (1 << 23) - 1, -(1 << 23)};
  const std::vector<unsigned> bits24_unsigned = {0, 1, 77, 1 << 23, (1 << 24) - 1};
  const auto wrapped = [](std::int64_t value) { return static_cast<int>(value); };
  return {
      function("clamp_int", "clamp(x, -3, 40)", any, [](int x) { return std::clamp(x, -3, 40); }),
      function("clamp_uint", "clamp(x, 3u, 0x80000001u)", any_unsigned,
               [](unsigned x) { return std::clamp(x, 3u, 0x80000001u); }),
      function("min_int", "min(x, -5)", any, [](int x) { return std::min(x, -5); }),
      function("max_int", "max(x, -5)", any, [](int x) { return std::max(x, -5); }),
      function("min_uint", "min(x, 5u)", any_unsigned, [](unsigned x) { return std::min(x, 5u); }),
      function("max_uint", "max(x, 5u)", any_unsigned, [](unsigned x) { return std::max(x, 5u); }),
      function("mul24", "mul24(x, -8388607)", bits24,
               [=](int x) { return wrapped(std::int64_t{x} * -8388607); }),
      function("mad24", "mad24(x, 1000, -7)", bits24,
               [=](int x) { return wrapped(std::int64_t{x} * 1000 - 7); }),
      function("mul24_uint", "mul24(x, 16777215u)", bits24_unsigned, [](unsigned x) { return x * 16777215; }),
      function("mad24_uint", "mad24(x, 16777215u, 9u)", bits24_unsigned,
               [](unsigned x) { return x * 16777215 + 9; }),
  };
}

// --- Vectors --------------------------------------------------------------------------------------------

constexpr int vector_widths[] = {2, 3, 4, 8, 16};
constexpr int all_widths[] = {1, 2, 3, 4, 8, 16};

std::string type_of(int width) { return "float" + std::to_string(width); }
std::string load(int width, const std::string& arguments) {
  return "vload" + std::to_string(width) + "(" + arguments + ")";
}
std::string store(int width, const std::string& arguments) {
  return "vstore" + std::to_string(width) + "(" + arguments + ");\n";
}

// What elementwise arithmetic must give. Each statement starts from r = a and leaves its answer in r; a, b
// and c are vectors, s is a scalar.
struct Arithmetic {
  using Host = std::function<float(float a, float b, float c, float s)>;
  std::string name;
  std::vector<std::pair<std::string, Host>> statements;
  int ulps = 0;
  std::vector<float> input = standard_input();
};

// As many work-items as it takes to see all of a, b and c, which are 16 floats of `in` each; then comes s.
Item arithmetic_item(const Arithmetic& arithmetic, int width) {
  const std::size_t work_items = 16 / width;
  const auto vector = [width](const std::string& name, const std::string& from) {
    return "const " + type_of(width) + " " + name + " = " + load(width, "i, " + from) + ";\n";
  };
  std::string body =
      vector("a", "in") + vector("b", "in + 16") + vector("c", "in + 32") + "const float s = in[48];\n";
  body += type_of(width) + " r;\n";
  std::vector<float> expected;
  for (const auto& [statement, host] : arithmetic.statements) {
    body += "r = a;\n" + statement + ";\n" + store(width, "r, i, out + " + std::to_string(expected.size()));
    for (std::size_t e = 0; e < 16; ++e) {
      const std::vector<float>& in = arithmetic.input;
      expected.push_back(e < width * work_items ? host(in[e], in[16 + e], in[32 + e], in[48]) : untouched);
    }
  }
  return {.name = arithmetic.name + "_" + type_of(width),
          .body = body,
          .expected = expected,
          .input = arithmetic.input,
          .ulps = arithmetic.ulps,
          .geometry = {{1, 1, 1}, {work_items, 1, 1}},
          .defines = {{"WIDTH", width}}};
}

// a, b, c and s the same for every element.
std::vector<float> uniform_input(float a, float b, float c, float s) {
  std::vector<float> input;
  for (float value : {a, b, c, s}) {
    input.insert(input.end(), 16, value);
  }
  return input;
}

Arithmetic operator_in_every_form(const std::string& name, const std::string& symbol,
                                  const std::function<float(float, float)>& host, int ulps = 0) {
  const auto with_vector = [host](float a, float b, float, float) { return host(a, b); };
  const auto with_scalar = [host](float a, float, float, float s) { return host(a, s); };
  const auto scalar_first = [host](float a, float, float, float s) { return host(s, a); };
  return {name,
          {{"r = a " + symbol + " b", with_vector},
           {"r = a " + symbol + " s", with_scalar},
           {"r = s " + symbol + " a", scalar_first},
           {"r " + symbol + "= b", with_vector},
           {"r " + symbol + "= s", with_scalar}},
          ulps};
}

std::vector<Item> vector_arithmetic() {
  // The square of 1 + 2^-12 is 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11: only a fused multiply-add has
  // the last term left.
  const float root = 1.0f + 0x1p-12f;
  const std::vector<float> contracting = uniform_input(root, root, -(1.0f + 0x1p-11f), 0.0f);
  const std::vector<float> denormal =
      uniform_input(smallest_normal, -3 * smallest_denormal, smallest_denormal, 0.5f);

  const Arithmetic all[] = {
      operator_in_every_form("plus", "+", std::plus<>()),
      operator_in_every_form("minus", "-", std::minus<>()),
      operator_in_every_form("times", "*", std::multiplies<>()),
      operator_in_every_form("divided_by", "/", std::divides<>(), division_ulps),
      {"widening",
       {{"r = s", [](float, float, float, float s) { return s; }},
        {"r = (FLOAT(WIDTH))(s)", [](float, float, float, float s) { return s; }},
        {"r = 3 * a", [](float a, float, float, float) { return 3 * a; }}}},
      {"negated", {{"r = -a", [](float a, float, float, float) { return -a; }}}},
      {"fma", {{"r = fma(a, b, c)", [](float a, float b, float c, float) { return std::fma(a, b, c); }}}},
      {"mad", {{"r = mad(a, b, c)", [](float a, float b, float c, float) { return a * b + c; }}}},
      {"fabs", {{"r = fabs(a)", [](float a, float, float, float) { return std::fabs(a); }}}},
      {"fmin",
       {{"r = fmin(a, b)", [](float a, float b, float, float) { return std::fmin(a, b); }},
        {"r = fmin(a, s)", [](float a, float, float, float s) { return std::fmin(a, s); }}}},
      {"fmax",
       {{"r = fmax(a, b)", [](float a, float b, float, float) { return std::fmax(a, b); }},
        {"r = fmax(a, s)", [](float a, float, float, float s) { return std::fmax(a, s); }}}},
      {"not_contracted",
       {{"r = a * b + c", [](float, float, float, float) { return 0.0f; }},
        {"r = c + a * b", [](float, float, float, float) { return 0.0f; }},
        {"r = a * b; r += c", [](float, float, float, float) { return 0.0f; }},
        {"r = c; r += a * b", [](float, float, float, float) { return 0.0f; }},
        {"r = a * b - -c", [](float, float, float, float) { return 0.0f; }},
        {"r = fma(a, b, c)", [](float, float, float, float) { return 0x1p-24f; }}},
       0,
       contracting},
      {"denormals",
       {{"r = a * s", [](float a, float, float, float s) { return a * s; }},
        {"r = b", [](float, float b, float, float) { return b; }},
        {"r = b + c", [](float, float b, float c, float) { return b + c; }},
        {"r = a + b", [](float a, float b, float, float) { return a + b; }},
        {"r = fma(a, r - a + s, b)", [](float a, float b, float, float s) { return std::fma(a, s, b); }},
        {"r = fmax(b, -c)", [](float, float, float c, float) { return -c; }}},
       0,
       denormal},
  };
  std::vector<Item> items;
  for (const Arithmetic& arithmetic : all) {
    for (int width : all_widths) {
      items.push_back(arithmetic_item(arithmetic, width));
    }
  }
  return items;
}

struct Member {
  std::string name;
  std::size_t element;
};

// s0 to sF, s0 to sf, and x to w.
std::vector<Member> members_of(int width) {
  std::vector<Member> members;
  for (std::size_t e = 0; e < static_cast<std::size_t>(width); ++e) {
    members.push_back({std::string("s") + "0123456789ABCDEF"[e], e});
    if (e >= 10) {
      members.push_back({std::string("s") + "abcdef"[e - 10], e});
    }
    if (width <= 4) {
      members.push_back({std::string(1, "xyzw"[e]), e});
    }
  }
  return members;
}

// Each member read, then each written in a copy of the vector.
Item members_item(int width) {
  const std::vector<float> in = standard_input();
  const std::vector<Member> members = members_of(width);
  std::string body = type_of(width) + " r;\nconst " + type_of(width) + " a = " + load(width, "0, in") + ";\n";
  std::vector<float> expected;
  for (const Member& member : members) {
    body += "out[" + std::to_string(expected.size()) + "] = a." + member.name + ";\n";
    expected.push_back(in[member.element]);
  }
  for (const Member& member : members) {
    const std::size_t value = 63 - member.element;
    body += "r = a;\nr." + member.name + " = in[" + std::to_string(value) + "];\n" +
            store(width, "r, 0, out + " + std::to_string(expected.size()));
    std::vector<float> changed(in.begin(), in.begin() + width);
    changed[member.element] = in[value];
    expected.insert(expected.end(), changed.begin(), changed.end());
  }
  return {.name = "members_" + type_of(width), .body = body, .expected = expected};
}

// lo and hi: read, and written crosswise.
Item halves_item(int width) {
  const std::vector<float> in = standard_input();
  const int half = width / 2;
  const std::string vector = type_of(width);
  std::vector<float> expected(in.begin(), in.begin() + width);
  expected.insert(expected.end(), in.begin() + half, in.begin() + width);
  expected.insert(expected.end(), in.begin(), in.begin() + half);
  return {.name = "halves_" + vector,
          .body = "const " + vector + " a = " + load(width, "0, in") + ";\n" + store(half, "a.lo, 0, out") +
                  store(half, "a.hi, 1, out") + vector + " r;\nr.lo = a.hi;\nr.hi = a.lo;\n" +
                  store(width, "r, 1, out"),
          .expected = expected};
}

// Its size is also its alignment: in a structure, in private and in local memory.
Item layout_item(int width) {
  const unsigned size = 4 * (width == 3 ? 4 : width);
  return {.name = "layout_" + type_of(width),
          .body =
              "struct Holder holder;\n"
              "__local float odd[3];\n"
              "__local FLOAT(WIDTH) tile[2];\n"
              "odd[0] = 1.0f;\n"
              "holder.vector = tile[1] = (FLOAT(WIDTH))(odd[0]);\n"
              "out[0] = (uint)sizeof(FLOAT(WIDTH));\n"
              "out[1] = (uint)((size_t)&holder.vector - (size_t)&holder);\n"
              "out[2] = (uint)sizeof(struct Holder);\n"
              "out[3] = (uint)((size_t)&holder % sizeof(FLOAT(WIDTH)));\n"
              "out[4] = (uint)((size_t)tile % sizeof(FLOAT(WIDTH)));\n"
              "out[5] = (uint)((size_t)(tile + 1) - (size_t)tile);",
          .expected = std::vector<unsigned>{size, size, 3 * size, 0, 0, size},
          .declarations = "struct Holder {\n  float first;\n  FLOAT(WIDTH) vector;\n  float last;\n};",
          .defines = {{"WIDTH", width}}};
}

// vload and vstore ask for the alignment of a float only.
Item load_store_item(int width) {
  const std::vector<float> in = standard_input();
  std::vector<float> expected(3 + 3 * width, untouched);
  std::copy_n(in.begin() + 1 + width, width, expected.begin() + 3 + 2 * width);
  return {.name = "load_store_" + type_of(width),
          .body = store(width, load(width, "1, in + 1") + ", 2, out + 3"),
          .expected = expected};
}

Item load_store_local_private_item(int width) {
  const std::vector<float> in = standard_input();
  return {.name = "load_store_local_private_" + type_of(width),
          .body = "__local float tile[40];\nfloat own[40];\n" +
                  store(width, load(width, "0, in") + ", 1, tile + 1") +
                  store(width, load(width, "1, tile + 1") + ", 1, own + 3") +
                  store(width, load(width, "1, own + 3") + ", 0, out"),
          .expected = std::vector<float>(in.begin(), in.begin() + width)};
}

Item width_macros_item(int width) {
  const std::vector<float> in = standard_input();
  return {.name = "width_macros_" + type_of(width),
          .body = "const FLOAT(WIDTH) v = VLOAD(WIDTH)(1, in);\nVSTORE(WIDTH)(v, 0, out);",
          .expected = std::vector<float>(in.begin() + width, in.begin() + 2 * width),
          .defines = {{"WIDTH", width}}};
}

Item read_only_item(int width, int use_ldg) {
  const std::vector<float> in = standard_input();
  const std::string read =
      "READ_ONLY(" + std::to_string(width) + ", (const __global " + type_of(width) + "*)in + 1)";
  return {.name = "read_only_" + type_of(width) + "_ldg" + std::to_string(use_ldg),
          .body = store(width, read + ", 0, out"),
          .expected = std::vector<float>(in.begin() + width, in.begin() + 2 * width),
          .defines = {{"USE_LDG", use_ldg}}};
}

std::vector<Item> vector_items() {
  std::vector<Item> items;
  for (int width : all_widths) {
    items.push_back(load_store_item(width));
    items.push_back(load_store_local_private_item(width));
    items.push_back(width_macros_item(width));
    if (width != 3) {
      items.push_back(read_only_item(width, 0));
      items.push_back(read_only_item(width, 1));
    }
  }
  for (int width : vector_widths) {
    items.push_back(members_item(width));
    items.push_back(layout_item(width));
    if (width != 3) {
      items.push_back(halves_item(width));
    }
  }
  const std::vector<float> in = standard_input();
  items.push_back({.name = "halves_float3",  // as of a float4 whose last element is undefined
                   .body = "float3 r = vload3(0, in);\n"
                           "out[0] = r.hi.x;\n"
                           "vstore2(r.lo, 0, out + 1);\n"
                           "r.lo = vload2(0, in + 8);\n"
                           "vstore3(r, 1, out);",
                   .expected = std::vector<float>{in[2], in[0], in[1], in[8], in[9], in[2]}});
  items.push_back({.name = "halves_of_halves",
                   .body = "float16 r = vload16(0, in);\n"
                           "out[0] = r.hi.lo.hi.y;\n"
                           "r.lo.hi.lo.x = 99.0f;\n"
                           "out[1] = r.s4;",
                   .expected = std::vector<float>{in[11], 99.0f}});
  return items;
}

// --- Work-items, qualifiers, barriers -------------------------------------------------------------------

// Where a work-item is, in one dimension.
struct Place {
  std::size_t local;
  std::size_t group;
  std::size_t local_size;
  std::size_t groups;
};

// All three dimensions as every work-item of a launch sees them that differs in each.
Item work_item_function(const std::string& name, std::size_t (*value)(const Place&)) {
  const Geometry geometry = {{2, 3, 5}, {4, 2, 3}};
  const Extent global = {8, 6, 15};
  std::vector<int> expected;
  for (std::size_t item = 0; item < global[0] * global[1] * global[2]; ++item) {
    const Extent id = {item % global[0], item / global[0] % global[1], item / global[0] / global[1]};
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t size = geometry.local[d];
      expected.push_back(static_cast<int>(value({id[d] % size, id[d] / size, size, geometry.groups[d]})));
    }
  }
  return {.name = name,
          .body =
              "const int item_number = i + 8 * ((int)get_global_id(1) + 6 * (int)get_global_id(2));\n"
              "out[3 * item_number] = (int)FUNCTION(0);\n"
              "out[3 * item_number + 1] = (int)FUNCTION(1);\n"
              "out[3 * item_number + 2] = (int)FUNCTION(2);",
          .expected = expected,
          .geometry = geometry,
          .declarations = "#define FUNCTION(dimension) " + name + "(dimension)"};
}

std::vector<Item> work_item_functions() {
  return {
      work_item_function("get_local_id", [](const Place& p) { return p.local; }),
      work_item_function("get_local_size", [](const Place& p) { return p.local_size; }),
      work_item_function("get_group_id", [](const Place& p) { return p.group; }),
      work_item_function("get_num_groups", [](const Place& p) { return p.groups; }),
      work_item_function("get_global_id", [](const Place& p) { return p.group * p.local_size + p.local; }),
      work_item_function("get_global_size", [](const Place& p) { return p.groups * p.local_size; }),
  };
}

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
       .body = "out[0] = (int)sizeof(uchar);\nout[1] = (int)sizeof(ushort);\nout[2] = (int)sizeof(uint);\n"
               "out[3] = (int)sizeof(ulong);\nout[4] = (int)(uchar)-1;\nout[5] = (int)(ushort)-1;\n"
               "out[6] = (int)((uint)-1 >> 31);\nout[7] = (int)((ulong)-1 >> 63);",
       .expected = std::vector<int>{1, 2, 4, 8, 255, 65535, 1, 1}},
  };
}

// Two work-groups of 64: more than one warp each, so that a barrier has something to do.
Item exchange_item(const std::string& name, const std::string& body,
                   std::size_t (*partner)(std::size_t local)) {
  std::vector<float> input;
  std::vector<float> expected;
  for (std::size_t item = 0; item < 128; ++item) {
    input.push_back(static_cast<float>(item));
    expected.push_back(static_cast<float>(item / 64 * 64 + partner(item % 64)));
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
      // Where nothing was started early there is nothing to wait for.
      exchange_item("await_step_before",
                    "AWAIT_STEP_BEFORE();\n"
                    "out[i] = in[i];",
                    [](std::size_t local) { return local; }),
  };
}

std::vector<Item> all_items() {
  std::vector<Item> items;
  for (auto part : {work_item_functions, qualifiers, barriers, vector_items, vector_arithmetic,
                    float_functions, integer_functions}) {
    for (Item& item : part()) {
      items.push_back(std::move(item));
    }
  }
  return items;
}

class EveryItem : public ::testing::TestWithParam<std::tuple<DeviceName, Item>> {};

TEST_P(EveryItem, GivesTheExpectedAnswer) {
  const auto& [name, item] = GetParam();
  DUOGEMM_TEST_DEVICE(device, name);
  expect_answer(item, run(item, device));
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
  DUOGEMM_TEST_DEVICE(device, GetParam());
  if (!device.device->info().shuffle) {
    GTEST_SKIP() << device.device->info().name << " has no shuffle";
  }
  const Item unsized = shuffle_item(1);
  const auto kernel = device.device->compile(program_of(unsized));
  const Item item = shuffle_item(kernel->sub_group_size(unsized.geometry.local));
  expect_answer(item, run(item, device));
}

// The words that the executor looks for in the compiler's log.
TEST_P(CompatDevice, SaysThatItHasNoShuffle) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  if (device.device->info().shuffle) {
    GTEST_SKIP() << device.device->info().name << " has shuffles";
  }
  try {
    device.device->compile(program_of(shuffle_item(1)));
    FAIL() << "it compiled";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::build_failed);
    EXPECT_NE(std::string(error.what()).find("unsupported: USE_SHUFFLE"), std::string::npos) << error.what();
  }
}

TEST_P(CompatDevice, RefusesALargerWorkGroupThanRequired) {
  DUOGEMM_TEST_DEVICE(device, GetParam());
  Item item = qualifier_item("small_group", "out[i] = in[i];", std::vector<float>(8), "",
                             "__attribute__((reqd_work_group_size(4, 1, 1)))");
  EXPECT_THROW(run(item, device), Error);
}

INSTANTIATE_TEST_SUITE_P(Compat, CompatDevice, ::testing::ValuesIn(test_devices()),
                         [](const auto& info) { return info.param.text(); });

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
  for (int width : {4, 8, 16}) {
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
      "#endif\n"
      "}\n");
  const auto ptx = [&](int capability) {
    return cuda::compile_with_nvrtc({"clustered", text, {}, false}, capability, true).ptx;
  };
  EXPECT_TRUE(has(ptx(90), "barrier.cluster.arrive") && has(ptx(90), "ld.shared::cluster"));
  EXPECT_FALSE(has(ptx(89), "cluster."));
}

#endif

}  // namespace
}  // namespace duogemm::testing
