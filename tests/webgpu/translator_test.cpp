// The translator from the dialect to WGSL, on its own: what it makes of each construct, and what it refuses.
// What the shaders compute is asked by check_wgpu.py and check_page.py.
#include <gtest/gtest.h>

#include "duogemm/error.h"
#include "page/settings.h"
#include "shader/translate.h"

namespace duogemm {
namespace {

using webgpu::Shader;
using webgpu::translate;

// A kernel of 8 work-items with these statements, the first of which stands on line 3 of kernel.cl.
Shader kernel_of(const std::string& statements, const std::string& arguments = "",
                 const std::string& before = "") {
  return translate("#line 1 \"dialect.h\"\n#define LOCAL_PTR __local\n" + before +
                       "#line 1 \"kernel.cl\"\n"
                       "__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void\n"
                       "f(const int M, const float alpha, const __global float* A, __global float* C" +
                       arguments + ") {\n" + statements + "\n}\n",
                   {});
}

std::string lines_of(const std::string& statements) {
  const std::string text = kernel_of(statements).text;
  return text.substr(text.find(") {\n") + 4);
}

std::string refusal(const std::string& statements, const std::string& arguments = "",
                    const std::string& before = "") {
  try {
    kernel_of(statements, arguments, before);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Translator, KnowsEachRung) {
  for (const Rung& rung : rungs()) {
    if (rung.bf16_products > 0) {
      EXPECT_THROW(translate(kernel_text(rung.path), {}), Error) << rung.name;
      continue;
    }
    for (const Tunables& tunables : bench::browser_settings(rung)) {
      const Shader shader = translate(kernel_text(rung.path), tunables);
      const Extent local = bench::work_group_of(rung, tunables).local;
      EXPECT_EQ(shader.name, rung.name);
      EXPECT_EQ(shader.local_bytes, rung.local_bytes(tunables)) << rung.name << ": " << to_text(tunables);
      for (std::size_t d = 0; d < 3; ++d) {
        EXPECT_EQ(static_cast<std::size_t>(shader.work_items[d]), local[d]) << rung.name;
      }
      ASSERT_EQ(shader.numbers.size(), 5U) << rung.name;
      EXPECT_EQ(shader.numbers[3].name, "alpha");
      ASSERT_EQ(shader.buffers.size(), 3U) << rung.name;
      EXPECT_FALSE(shader.buffers[0].written || shader.buffers[1].written) << rung.name;
      EXPECT_TRUE(shader.buffers[2].written) << rung.name;
    }
  }
}

TEST(Translator, SaysWhyTensorCoresAreMissing) {
  try {
    translate(kernel_text("ladder/beyond/17_tensor_cores.cl"), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::unsupported);
    EXPECT_TRUE(has(error.what(), "tensor cores need an NVIDIA device")) << error.what();
  }
}

TEST(Translator, UnrollsAndFoldsConstants) {
  EXPECT_EQ(lines_of("#pragma unroll\nfor (int i = 3; i > 0; i -= 2) { C[i / 2 * 4 + i % 2] = 0.5f; }"),
            "  C[5] = 0.5f;\n  C[1] = 0.5f;\n}\n");
  EXPECT_EQ(lines_of("if (2 * 3 == 6) { C[0] = 1.0f; } else { C[1] = 1.0f; }"), "  C[0] = 1.0f;\n}\n");
}

TEST(Translator, LeavesLoopsWithANumberOrAnUnknownEnd) {
  EXPECT_TRUE(has(lines_of("#pragma unroll 4\nfor (int i = 0; i < 8; ++i) { C[i] = 0.0f; }"),
                  "for (var i: i32 = 0; i < 8; i += 1) {"));
  EXPECT_TRUE(has(lines_of("#pragma unroll\nfor (int i = M; i >= 0; --i) { C[i] = 0.0f; }"),
                  "for (var i: i32 = numbers.M; i >= 0; i += -1) {"));
}

TEST(Translator, KeepsArraysInRegistersWhereIndicesAreConstants) {
  const std::string constant = lines_of("float x[2]; x[1] = A[0]; C[0] = x[1];");
  EXPECT_TRUE(has(constant, "var x_1: f32;") && has(constant, "C[0] = x_1;")) << constant;
  const std::string varying = lines_of("float x[2]; x[M] = A[0]; C[0] = x[1];");
  EXPECT_TRUE(has(varying, "var x: array<f32, 2>;") && has(varying, "x[numbers.M] = A[0];")) << varying;
}

TEST(Translator, GivesAnObjectTheNarrowestTypeOfItsAccesses) {
  const std::string vectors =
      kernel_of("*(__global float4*)(C + 8) = *(const __global float4*)(A + 4 * M);").text;
  EXPECT_TRUE(has(vectors, "A: array<vec4f>") && has(vectors, "C[2] = A[numbers.M];")) << vectors;
  const std::string mixed = kernel_of("*(__global float2*)C = *(const __global float2*)A; C[5] = A[1];").text;
  EXPECT_TRUE(has(mixed, "let whole = vec2f(A[0], A[1]);") && has(mixed, "C[1] = whole.y;")) << mixed;
}

TEST(Translator, DividesOffsetsExactly) {
  // 4 * M + 8 floats are M + 2 vectors; what has no factor is divided as a whole.
  const std::string text = lines_of("*(__global float4*)(C + M * 4 + 8) = (float4)(alpha);");
  EXPECT_TRUE(has(text, "C[numbers.M + 2] = vec4f(numbers.alpha);")) << text;
  EXPECT_TRUE(has(lines_of("*(__global float4*)(C + M + 8) = (float4)(alpha);"), "C[numbers.M / 4 + 2]"));
}

TEST(Translator, MakesSeveralVectorsOfAWideOne) {
  const std::string text = lines_of("float8 x = (float8)(1.0f); x = x + x; vstore8(x, 0, C);");
  EXPECT_TRUE(has(text, "x_0 = x_0 + x_0;\n  x_1 = x_1 + x_1;") && has(text, "C[7] = x_1.w;")) << text;
}

TEST(Translator, CompilesFunctionsIntoTheirCallers) {
  const std::string text =
      kernel_of("add(C + 4, A, M);", "",
                "inline void add(__global float* to, const __global float* from, const int n) {\n"
                "for (int i = 0; i < n; ++i) { to[i] += from[i]; } }\n")
          .text;
  EXPECT_TRUE(
      has(text, "// add\n  for (var i: i32 = 0; i < numbers.M; i += 1) {\n    C[i + 4] = C[i + 4] + A[i];"))
      << text;
}

TEST(Translator, DoesNotTakeAVariableForItsLaterValue) {
  const std::string text = lines_of("float x = A[0]; const float y = x; x = A[1]; C[0] = x; C[1] = y;");
  EXPECT_TRUE(has(text, "let y = x;") && has(text, "C[1] = y;")) << text;
}

TEST(Translator, TellsConditionsFromWholeNumbers) {
  const std::string flag = lines_of("int flag = M > 4; flag += 2; C[flag] = alpha;");
  EXPECT_TRUE(has(flag, "var flag = select(0, 1, numbers.M > 4);") && has(flag, "flag = flag + 2;")) << flag;
  const std::string odd = lines_of("const bool odd = M % 4; C[odd * 8] = alpha;");
  EXPECT_TRUE(has(odd, "let odd = numbers.M % 4 != 0;") && has(odd, "C[select(0, 1, odd) * 8]")) << odd;
  const std::string later = lines_of("bool x; x = M; if (x) { C[0] = alpha; }");
  EXPECT_TRUE(has(later, "var x: bool;") && has(later, "x = numbers.M != 0;")) << later;
  const std::string result =
      kernel_of("C[odd(M) * 8] = alpha;", "", "inline bool odd(const int n) {\n  return n % 2;\n}\n").text;
  EXPECT_TRUE(has(result, "C[select(0, 1, numbers.M % 2 != 0) * 8]")) << result;
}

TEST(Translator, LoadsAVectorFromAnywhere) {
  const std::string aligned = lines_of("vstore4(vload4(M, A + 8), 0, C);");
  EXPECT_TRUE(has(aligned, "= A[numbers.M + 2];")) << aligned;
  const std::string anywhere = lines_of("vstore4(vload4(0, A + M), 0, C);");
  EXPECT_TRUE(has(anywhere, "= vec4f(A[numbers.M], A[numbers.M + 1], A[numbers.M + 2], A[numbers.M + 3]);"))
      << anywhere;
}

TEST(Translator, ComparesAndDividesUintsWithoutASign) {
  const std::string text = lines_of(
      "const uint n = M; if (n - 1 < 8) { C[n / 3] = n; } if (M / 2 < 8) { C[(uint)(-1) % 10] = alpha; }");
  EXPECT_TRUE(has(text, "if (u32(numbers.M - 1) < 8u)")) << text;
  EXPECT_TRUE(has(text, "C[i32(u32(numbers.M) / 3u)] = f32(u32(numbers.M));")) << text;
  EXPECT_TRUE(has(text, "if (numbers.M / 2 < 8)") && has(text, "C[5] = numbers.alpha;")) << text;
  EXPECT_TRUE(has(lines_of("C[0xffffffffu < 1] = (long)(0u - 1) > 0 ? 1.0f : 2.0f;"), "C[0] = 1.0f;"));
}

TEST(Translator, WritesABarrierForEachMemory) {
  const std::string text =
      lines_of("barrier(CLK_GLOBAL_MEM_FENCE); barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);");
  EXPECT_EQ(text, "  storageBarrier();\n  workgroupBarrier();\n  storageBarrier();\n}\n");
}

TEST(Translator, ReadsNumbersAsCHasThem) {
  const std::string text = lines_of("C[0x1F] = 1e5; C[010] = 2.5F; C[3ul] = 1E-3f;");
  EXPECT_EQ(text, "  C[31] = 1e5;\n  C[8] = 2.5f;\n  C[3] = 1E-3f;\n}\n");
}

TEST(Translator, NamesAWideVectorBeforeItStoresAPart) {
  const std::string text = lines_of("*(__global float8*)C = (float8)((*(__global float4*)(C + 4)).x);");
  EXPECT_TRUE(has(text, "let whole_1 = vec4f(C[1].x);\n  C[0] = whole;\n  C[1] = whole_1;")) << text;
  const std::string variable = lines_of("float8 x = (float8)(alpha); x = x.x * x; vstore8(x, 0, C);");
  EXPECT_TRUE(has(variable, "let whole_1 = x_0.x * x_1;\n  x_0 = whole;")) << variable;
}

TEST(Translator, KeepsSignsApart) {
  const std::string text = lines_of("C[0] = -(-alpha);");
  EXPECT_TRUE(has(text, "C[0] = -(-numbers.alpha);")) << text;
}

TEST(Translator, GivesNamesOfWgslAnother) {
  const std::string names = lines_of("const float active = A[M], std = A[0], abs = A[1]; C[0] = active;");
  EXPECT_TRUE(has(names, "let active_1") && has(names, "let std_1") && has(names, "let abs_1")) << names;
  const std::string text = lines_of("const float target = A[M]; C[0] = target;");
  EXPECT_TRUE(has(text, "let target_1 = A[numbers.M];")) << text;
}

TEST(Translator, FlattensAStructOfNumbers) {
  const Shader shader = translate(
      "typedef long Whole;\n"
      "typedef struct { Whole offset, ld; } Layout;\n"
      "typedef struct { float scale; Layout c; } Sizes;\n"
      "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void\n"
      "f(const Sizes p, __global float* C) { C[p.c.ld] = p.scale; }\n",
      {});
  ASSERT_EQ(shader.numbers.size(), 3U);
  EXPECT_TRUE(shader.numbers[0].real);
  EXPECT_EQ(shader.numbers[2].name, "c_ld");
  EXPECT_TRUE(has(shader.text, "C[numbers.c_ld] = numbers.scale;")) << shader.text;
}

TEST(Translator, TellsWhatItDoesNotKnowAndWhere) {
  const std::string at = "kernel.cl:3: not translated to WGSL: ";
  EXPECT_EQ(refusal("C[0] = tan(alpha);"), at + "the function tan");
  EXPECT_EQ(refusal("\nC[0] = beta;"), "kernel.cl:4: not translated to WGSL: the name beta");
  EXPECT_EQ(refusal("const int x = M & 3; C[x] = 0.0f;"), at + "the operator & of whole numbers");
  EXPECT_EQ(
      refusal("C[0] = alpha;", ", __global int* D"),
      "kernel.cl:1: not translated to WGSL: the argument D points to int; WebGPU's kernels take floats");
  EXPECT_EQ(refusal("*(__global float4*)(C + 3) = (float4)(0.0f);"),
            at + "a vector that does not begin at a multiple of its width");
  EXPECT_EQ(refusal("C[get_work_dim(0)] = alpha;"), at + "the function get_work_dim of dimension 0");
  EXPECT_EQ(refusal("C[0] = A[0] + (1 / 0);"), at + "a division by zero");
  EXPECT_EQ(refusal("float x[4]; *(float4*)x = (float4)(0.0f); C[0] = x[0];"),
            at + "an array in registers is read or written as another type than its own");
  const std::string sum = "inline float sum(const float x) {\n  return x + x;\n}\n";
  EXPECT_EQ(refusal("for (int i = 0; i < sum(A[i]); ++i) { C[i] = alpha; }", "", sum),
            at + "a loop whose condition or step takes more than an expression");
  EXPECT_EQ(
      refusal("\n#pragma unroll\nfor (int i = 0; i < sum(A[i]); ++i) { C[i] = alpha; }", "", sum),
      "kernel.cl:4: not translated to WGSL: a loop whose condition or step takes more than an expression");
  EXPECT_EQ(refusal("for (float x = 0; x < 4; x += 1) { C[0] = x / 2; }"),
            at + "a loop that does not count a whole number");
  EXPECT_EQ(refusal("vstore4(vload3(0, A), 0, C);"), at + "the function vload3");
  EXPECT_EQ(refusal("vstore4(vload4(0, (const __global float4*)A), 0, C);"),
            at + "a pointer to vectors where one to floats is wanted");
  EXPECT_EQ(refusal("barrier(M);"), at + "the barrier of M");
  EXPECT_EQ(refusal("C[0] = 1.0L;"), at + "the number 1.0L");
  EXPECT_EQ(refusal("float t[2][4]; C[0] = *(t + 1);"), at + "an array of arrays as a pointer");
  EXPECT_EQ(refusal("C[M << 1] = alpha;"), at + "the operator << of whole numbers");
  EXPECT_EQ(refusal("C[max((uint)M, 3u)] = alpha;"), at + "the function max of uint");
  EXPECT_EQ(refusal("C[0] = alpha;", ", const float4 v"),
            "kernel.cl:1: not translated to WGSL: the argument v, which is no number");
  EXPECT_EQ(refusal("C[0] = alpha;", "", "__kernel void g(__global float* C) {\n}\n"),
            "dialect.h:2: not translated to WGSL: more than one kernel");
  // What the grammar lacks, and what the preprocessor says.
  EXPECT_EQ(refusal("goto end;"), "kernel.cl:3: 'end' where ';' was expected");
  EXPECT_EQ(refusal("while (M) { }"), "kernel.cl:3: '{' where ';' was expected");
  EXPECT_TRUE(has(refusal("#error no such thing"), "kernel.cl:3: ")) << refusal("#error no such thing");
  EXPECT_TRUE(has(refusal("#error no such thing"), "no such thing"));
}

TEST(Translator, PlacesAnErrorInTheFileThatIsIncluded) {
  EXPECT_EQ(refusal("twice(C);", "", "inline void twice(__global float* to) {\n  to[0] = sin(to[0]);\n}\n"),
            "dialect.h:3: not translated to WGSL: the function sin");
}

}  // namespace
}  // namespace duogemm
