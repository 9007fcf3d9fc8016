// Vectors.
#include <algorithm>
#include <cmath>
#include <functional>

#include "item.h"

namespace duogemm::testing {
namespace {

constexpr int vector_widths[] = {2, 4, 8, 16};
constexpr int all_widths[] = {1, 2, 4, 8, 16};

std::string type_of(int width) { return "float" + std::to_string(width); }
std::string load(int width, const std::string& arguments) {
  return "vload" + std::to_string(width) + "(" + arguments + ")";
}
std::string store(int width, const std::string& arguments) {
  return "vstore" + std::to_string(width) + "(" + arguments + ");\n";
}

// Elementwise arithmetic. Each statement starts from r = a and leaves its answer in r; a, b
// and c are vectors, s is a scalar.
struct Operation {
  using Host = std::function<float(float a, float b, float c, float s)>;
  std::string name;
  std::vector<std::pair<std::string, Host>> statements;
  int ulps = 0;
  std::vector<float> input = standard_input();
};

// As many work-items as it takes to see all of a, b and c, which are 16 floats of `in` each; then comes s.
Item arithmetic_item(const Operation& arithmetic, int width) {
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

Operation operator_in_every_form(const std::string& name, const std::string& symbol,
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

}  // namespace

std::vector<Item> vector_arithmetic() {
  // The square of 1 + 2^-12 is 1 + 2^-11 + 2^-24, which rounds to 1 + 2^-11: only a fused multiply-add has
  // the last term left.
  const float root = 1.0f + 0x1p-12f;
  const std::vector<float> contracting = uniform_input(root, root, -(1.0f + 0x1p-11f), 0.0f);
  const std::vector<float> denormal =
      uniform_input(smallest_normal, -3 * smallest_denormal, smallest_denormal, 0.5f);

  const Operation all[] = {
      operator_in_every_form("plus", "+", std::plus<>()),
      operator_in_every_form("minus", "-", std::minus<>()),
      operator_in_every_form("times", "*", std::multiplies<>()),
      {"widening",
       {{"r = s", [](float, float, float, float s) { return s; }},
        {"r = (FLOAT(WIDTH))(s)", [](float, float, float, float s) { return s; }},
        {"r = 3 * a", [](float a, float, float, float) { return 3 * a; }}}},
      {"fma", {{"r = fma(a, b, c)", [](float a, float b, float c, float) { return std::fma(a, b, c); }}}},
      {"not_contracted",
       {{"r = a * b + c", [](float, float, float, float) { return 0.0f; }},
        {"r = c + a * b", [](float, float, float, float) { return 0.0f; }},
        {"r = a * b; r += c", [](float, float, float, float) { return 0.0f; }},
        {"r = c; r += a * b", [](float, float, float, float) { return 0.0f; }},
        {"r = fma(a, b, c)", [](float, float, float, float) { return 0x1p-24f; }}},
       0,
       contracting},
      {"denormals",
       {{"r = a * s", [](float a, float, float, float s) { return a * s; }},
        {"r = b", [](float, float b, float, float) { return b; }},
        {"r = b + c", [](float, float b, float c, float) { return b + c; }},
        {"r = a + b", [](float a, float b, float, float) { return a + b; }},
        {"r = fma(a, r - a + s, b)", [](float a, float b, float, float s) { return std::fma(a, s, b); }}},
       0,
       denormal},
  };
  std::vector<Item> items;
  for (const Operation& arithmetic : all) {
    for (int width : all_widths) {
      items.push_back(arithmetic_item(arithmetic, width));
    }
  }
  return items;
}

namespace {

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

// vload and vstore ask for the alignment of a float only.
Item load_store_item(int width) {
  const std::vector<float> in = standard_input();
  std::vector<float> expected(3 + 3 * width, untouched);
  std::copy_n(in.begin() + 1 + width, width, expected.begin() + 3 + 2 * width);
  return {.name = "load_store_" + type_of(width),
          .body = store(width, load(width, "1, in + 1") + ", 2, out + 3"),
          .expected = expected};
}

}  // namespace

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
    items.push_back(read_only_item(width, 0));
    items.push_back(read_only_item(width, 1));
  }
  for (int width : vector_widths) {
    items.push_back(members_item(width));
  }
  return items;
}

}  // namespace duogemm::testing
