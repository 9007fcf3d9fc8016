// `duogemm explain` reads compiled kernels, here loops that compilers wrote, and computes bounds of numbers.
#include <gtest/gtest.h>

#include <map>

#include "explain/roofline.h"
#include "files.h"
#include "system/tools.h"

namespace duogemm::bench {
namespace {

std::string read(const std::string& name) {
  return testing::contents_of(DUOGEMM_SOURCE "/tests/data/explain/" + name);
}

double count(const MainLoop& loop, Kind kind) { return loop.mix[kind].instructions; }

MainLoop main_loop(const Listing& listing, double multiply_adds) {
  const std::optional<MainLoop> loop = find_main_loop(listing, multiply_adds);
  EXPECT_TRUE(loop);
  return loop.value_or(MainLoop{});
}

// That a loop has these multiply-adds, instructions of these kinds, and bytes of some.
void expect_loop(const MainLoop& loop, double multiply_adds, const std::map<Kind, double>& counts,
                 const std::map<Kind, double>& bytes = {}) {
  EXPECT_EQ(loop.mix.multiply_adds, multiply_adds);
  for (const auto& [kind, instructions] : counts) {
    EXPECT_EQ(count(loop, kind), instructions) << static_cast<int>(kind);
  }
  for (const auto& [kind, many] : bytes) {
    EXPECT_EQ(loop.mix[kind].bytes, many) << static_cast<int>(kind);
  }
}

// Per tile of 16 in K a work-item of 4 x 2 does 128 multiply-adds, which the compiler has in a loop of eight
// k within the loop over tiles.
constexpr double tile_of_4x2x16 = 128;

TEST(Sass, IsReadOfCuobjdumpAndNvdisasm) {
  const MainLoop naive = main_loop(parse_sass(read("naive.sass"), "naive"), 0);
  expect_loop(naive, 16, {{Kind::global_load, 32}, {Kind::local_load, 0}}, {{Kind::global_load, 128}});
  EXPECT_EQ(naive.first, 0x260u);
  EXPECT_EQ(naive.last, 0x6b0u);
  const MainLoop wide =  // with labels and an inner loop, and three vectors of two for each k
      main_loop(parse_sass(read("register_wide.nvdisasm.sass"), "register_wide"), tile_of_4x2x16);
  EXPECT_EQ(wide.inner_trips, 2);
  expect_loop(wide, 128,
              {{Kind::local_load, 48},
               {Kind::local_store, 6},
               {Kind::global_load, 6},
               {Kind::barrier, 2},
               {Kind::stack_load, 0}},
              {{Kind::local_load, 384}});
}

TEST(Sass, OfAnotherKernelIsNotRead) {
  EXPECT_TRUE(parse_sass(read("naive.sass"), "tiled").empty());
  EXPECT_FALSE(find_main_loop({}, 0));
}

TEST(Sass, TheLoopOverKIsTakenForTheMainOneNotThatWhichUpdatesC) {
  const std::string text =
      "\t\tFunction : k\n"
      "        /*0000*/                   FFMA R0, R1, R2, R0 ;\n"
      "        /*0010*/                   FFMA R3, R1, R2, R3 ;\n"
      "        /*0020*/              @!P0 BRA 0x0;\n"
      "        /*0030*/                   LDG.E R4, [R2];\n"
      "        /*0040*/                   LDG.E R5, [R2];\n"
      "        /*0050*/                   LDG.E R6, [R2];\n"
      "        /*0060*/                   FFMA R0, R1, R4, R0 ;\n"
      "        /*0070*/                   FFMA R3, R1, R5, R3 ;\n"
      "        /*0080*/                   FFMA R7, R1, R6, R7 ;\n"
      "        /*0090*/                   STG.E [R2], R0;\n"
      "        /*00a0*/                   STG.E [R2], R3;\n"
      "        /*00b0*/                   STG.E [R2], R7;\n"
      "        /*00c0*/              @!P0 BRA 0x30;\n";
  expect_loop(main_loop(parse_sass(text, "k"), 0), 2, {{Kind::global_load, 0}});
}

// Operands from the reuse cache, and what stands between multiply-adds, also from one iteration to the next.
TEST(Sass, TellsOperandsThatAreReusedAndTheLongestGap) {
  const std::string text =
      "\t\tFunction : k\n"
      "        /*0000*/                   LDS R8, [R2];\n"
      "        /*0010*/                   FFMA R0, R1.reuse, R2, R0 ;\n"
      "        /*0020*/                   LDS.128 R4, [R2];\n"
      "        /*0030*/                   FFMA R3, R1, R2.reuse, R3 ;\n"
      "        /*0040*/                   FFMA R5, R4, R2, R5 ;\n"
      "        /*0050*/                   IADD3 R6, R6, R1.reuse, R7 ;\n"
      "        /*0060*/                   BAR.SYNC 0x0 ;\n"
      "        /*0070*/              @!P0 BRA 0x0;\n";
  const MainLoop loop = main_loop(parse_sass(text, "k"), 0);
  EXPECT_EQ(loop.mix.reusing, 2);
  EXPECT_EQ(loop.longest_gap, 4u);
  EXPECT_EQ(main_loop(parse_sass(read("naive.sass"), "naive"), 0).mix.reusing, 0);
}

TEST(Sass, OfKeplerAndBlackwellHasItsOwnSpellings) {
  const std::string text =
      "\t\tFunction : k\n"
      "        /*0008*/                   LDG.E.CI.128 R4, [R2];   /* 0x */\n"
      "        /*0010*/         {         FFMA R0, R1, R2, R0;\n"
      "        /*0018*/              @!P0 STL.64 [R1], R2;  }\n"
      "        /*0020*/                   FFMA2 R0, R2, R4, R0 ;\n"
      "        /*0024*/                   SHFL.IDX PT, R27, R25, R11, 0x1f ;\n"
      "        /*0028*/              @P0  BRA 0x8;\n";
  expect_loop(main_loop(parse_sass(text, "k"), 0), 3, {{Kind::multiply_add, 2}, {Kind::shuffle, 1}},
              {{Kind::global_load, 16}, {Kind::stack_store, 8}});
}

TEST(Sass, OfTensorCoresHasAdditionsWhereOthersHaveMultiplyAdds) {
  const std::string text =
      "\t\tFunction : k\n"
      "        /*0010*/                   HGMMA.64x128x16.F32 R24, R152, gdesc[UR4], RZ, !UPT ;\n"
      "        /*0020*/                   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;\n"
      "        /*0030*/                   FFMA R0, R1, R2, R0 ;\n"
      "        /*0040*/                   FADD R0, R1, R0 ;\n"
      "        /*0050*/               @P0 BRA 0x10;\n";
  expect_loop(main_loop(parse_sass(text, "k"), 0), 1024, {{Kind::multiply_add, 1}, {Kind::addition, 2}});
}

TEST(Ptx, OfTensorCoresIsReadWithinInlineStatements) {
  const std::string text =
      ".visible .entry k(\n)\n{\n$L0:\n"
      "\t{.reg .pred p; setp.ne.s32 p, %r1, 0; "
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%f1, %f2}, {%r1, %r2}, %rd1, p, 1, 1, 0;}\n"
      "\tfma.rn.f32 %f1, %f2, %f3, %f4;\n\t@%p1 bra $L0;\n\tret;\n}\n";
  expect_loop(main_loop(parse_ptx(text, "k"), 0), 1024, {{Kind::addition, 1}});
}

// Of copies past the registers; and of the program binary of NVIDIA's OpenCL, in which read-only loads are
// inline PTX.
TEST(Ptx, IsReadOfBothRuntimes) {
  expect_loop(main_loop(parse_ptx(read("pipelined.ptx"), "pipelined"), 128), 128,
              {{Kind::copy, 1}, {Kind::barrier, 1}, {Kind::local_load, 16}},
              {{Kind::copy, 16}, {Kind::local_load, 256}});
  expect_loop(main_loop(parse_ptx(read("registers_only.opencl.ptx"), "registers_only"), 0), 32,
              {{Kind::global_load, 3}, {Kind::barrier, 0}, {Kind::arithmetic, 3}}, {{Kind::global_load, 48}});
}

TEST(Ptx, EndsWithItsKernel) {
  const std::string text =
      ".visible .entry first(\n)\n{\n\tfma.rn.f32 %f1, %f2, %f3, %f4;\n\tret;\n}\n"
      ".visible .entry second(\n)\n{\n\tret;\n}\n";
  EXPECT_EQ(parse_ptx(text, "first").size(), 2u);
  EXPECT_EQ(parse_ptx(text, "second").size(), 1u);
  EXPECT_TRUE(parse_ptx(text, "fir").empty());
}

// In vectors of eight values, and of four.
TEST(X86, OfPoclIsRead) {
  expect_loop(main_loop(parse_x86(read("registers_only.s"), "_pocl_kernel_registers_only_workgroup"), 0), 32,
              {{Kind::multiply_add, 4}, {Kind::stack_load, 1}}, {{Kind::stack_load, 32}});
  expect_loop(main_loop(parse_x86(read("register_wide.s"), "_pocl_kernel_register_wide_workgroup"), 0), 128,
              {{Kind::multiply_add, 32}, {Kind::global_load, 16}, {Kind::stack_load, 0}});
}

TEST(X86, ReadsMultiplyAddsOfMemoryAndOfOneValue) {
  const std::string text =
      "0000000000001000 <f>:\n"
      "    1000:\tvfmadd231ps 0x40(%rax){1to16},%zmm1,%zmm2\n"
      "    100a:\tvfmadd213ss (%rsp),%xmm1,%xmm2\n"
      "    1010:\tvfmadd231pd %ymm0,%ymm1,%ymm2\n"
      "    1016:\tmov    %rax,0x8(%rsp)\n"
      "    101b:\tlea    0x8(%rsp),%rax\n"
      "    1020:\tjne    1000 <f>\n";
  // Double precision is not counted.
  expect_loop(main_loop(parse_x86(text, "f"), 0), 17, {{Kind::multiply_add, 2}, {Kind::arithmetic, 2}},
              {{Kind::global_load, 8}, {Kind::stack_store, 8}});
}

// The innermost loop with the most multiply-adds, not the longest and not the outermost.
TEST(TheMainLoop, IsTheHeaviestInnermostThatFetches) {
  const Listing listing = {
      {0, Kind::global_load, 0, 4}, {1, Kind::multiply_add, 1},  {2, Kind::multiply_add, 1},
      {3, Kind::control, 0, 0, 1},  {4, Kind::control, 0, 0, 0},  // tile by tile
      {5, Kind::multiply_add, 1},   {6, Kind::control, 0, 0, 5},  // the rest
      {7, Kind::control, 0, 0, 0},                                // and all for each member of a batch
  };
  const MainLoop loop = main_loop(listing, 8);
  EXPECT_EQ(loop.first, 0u);
  EXPECT_EQ(loop.last, 4u);
  EXPECT_EQ(loop.inner_trips, 4);
  EXPECT_EQ(loop.mix.multiply_adds, 8);
  EXPECT_EQ(count(loop, Kind::global_load), 1);
  EXPECT_EQ(main_loop(listing, 7).inner_trips, 1);  // does not come out even
}

TEST(PtxasLog, SaysWhatAKernelTakes) {
  const PtxasLog log = parse_ptxas_log(
      "ptxas info    : Compiling entry function 'f' for 'sm_90'\n"
      "ptxas         .     8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 27 registers, used 0 barriers\n");
  EXPECT_EQ(log.registers, 27u);
  EXPECT_EQ(log.spilled, 12u);
  EXPECT_FALSE(parse_ptxas_log("").registers);
}

// CUDA's cuOccupancyMaxActiveBlocksPerMultiprocessor answers these.
TEST(AMultiprocessor, HoldsAsManyWorkGroupsAsItsScarcestResourceAllows) {
  const Multiprocessor& hopper = *multiprocessor_of(90);
  const auto expect = [&](std::size_t work_items, std::size_t registers, std::size_t local,
                          std::size_t groups, const char* limit) {
    const auto found = occupancy(hopper, work_items, registers, local);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->groups, groups);
    EXPECT_EQ(found->limit, limit);
    EXPECT_EQ(found->most_warps, 64u);
  };
  expect(256, 103, 17408, 2, "registers");
  expect(256, 134, 33792, 1, "registers");
  expect(256, 32, 0, 8, "work-items");
  expect(32, 32, 0, 32, "work-groups");
  expect(256, 32, 48 * 1024, 4, "local memory");
  EXPECT_FALSE(occupancy(hopper, 1024, 255, 0));
}

TEST(AMultiprocessor, IsThatOfTheSameGeneration) {
  EXPECT_EQ(multiprocessor_of(72)->capability, 70);
  EXPECT_EQ(multiprocessor_of(103)->capability, 100);
  EXPECT_EQ(multiprocessor_of(0), nullptr);
  EXPECT_EQ(multiprocessor_of(210), nullptr);
}

void expect_bound(const Mix& mix, const Abilities& abilities, const char* name, double flops,
                  int products = 1) {
  const Roofline found = roofline(mix, {64, 64, 64}, {32, 32, 8}, abilities, products);
  ASSERT_NE(found.binding(), nullptr);
  EXPECT_EQ(found.binding()->name, name);
  EXPECT_NEAR(found.binding()->flops, flops, 1e-9);
}

TEST(TheRoofline, IsAsLowAsItsLowestBound) {
  Mix mix;
  for (int i = 0; i < 8; ++i) {
    mix.add({0, Kind::multiply_add, 1}, 1);
    mix.add({0, Kind::local_load, 0, 4}, 1);
  }
  Abilities abilities{1000.0, {50.0, 1.0}, multiprocessor_of(90), 0};
  expect_bound(mix, abilities, "memory", 2.0 * 64 / 12);
  // One load for each multiply-add, and a load takes the path four times as long as a multiply-add its own.
  abilities.bandwidth.memory = 1e6;
  expect_bound(mix, abilities, "loads, stores and shuffles", 250.0);
  // Nothing measured, nothing bounds.
  EXPECT_EQ(roofline(mix, {64, 64, 64}, {32, 32, 8}, {}).binding(), nullptr);
}

TEST(TheRoofline, KnowsTensorCores) {
  Mix mix;  // six products of BF16 for each of FP32, which an H200's tensor cores do 16 times as fast
  mix.add({0, Kind::multiply_add, 64}, 6);
  expect_bound(mix, {1000.0, {0.0, 1e9}, multiprocessor_of(90), 0}, "tensor cores", 1000.0 * 16 / 6, 6);
}

TEST(TheRoofline, OfACpuKnowsVectors) {
  Mix mix;
  mix.add({0, Kind::multiply_add, 4}, 10);
  const Abilities abilities{1000.0, {0.0, 1e9}, nullptr, 16};
  // Two of a quarter of the width for each full one.
  expect_bound(mix, abilities, "vector width", 500.0);
  // Memory, multiply-adds, vector width, instructions: it stores nothing.
  EXPECT_EQ(roofline(mix, {64, 64, 64}, {32, 32, 8}, abilities).bounds.size(), 4u);
  mix.add({0, Kind::global_load, 0, 16}, 30);
  expect_bound(mix, abilities, "loads", 250.0);
}

TEST(ATool, IsFoundAndRun) {
  const auto tool = find_tool("echo");
  ASSERT_TRUE(tool);
  const ToolResult result = run_tool(*tool, {"it's", "two words"}, ToolErrors::drop);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "it's two words\n");
  EXPECT_FALSE(find_tool("no-such-program-anywhere"));
  EXPECT_EQ(run_tool("/no/such/program", {}, ToolErrors::drop).status, 127);
}

}  // namespace
}  // namespace duogemm::bench
