// Qualifiers, barriers.
#include <algorithm>

#include "item.h"

namespace duogemm::testing {

Item qualifier_item(const std::string& name, const std::string& body, const std::vector<float>& expected,
                    const std::string& declarations, const std::string& attribute) {
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

namespace {

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

}  // namespace

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
      exchange_item("await_step_before",
                    "GRID_DEPENDENCY_WAIT();\n"
                    "out[i] = in[i];",
                    [](std::size_t local) { return local; }),
  };
}

}  // namespace duogemm::testing
