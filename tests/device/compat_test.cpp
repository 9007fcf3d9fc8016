// Every item that compat/ maps, as a small kernel whose answers the host knows: the same text must give them
// on every device of every backend. Where this build has CUDA, NVRTC compiles each text even without a
// device.
#include <gtest/gtest.h>

#include "families/kernel_source.h"
#include "item.h"
#include "test_devices.h"

#ifdef DUOGEMM_WITH_CUDA
#include "nvrtc_compile.h"
#endif

namespace duogemm::testing {

void PrintTo(const DeviceName& name, std::ostream* out) { *out << name.text(); }

namespace {

std::vector<Item> all_items() {
  std::vector<Item> items;
  for (auto part :
       {qualifiers, barriers, vector_items, vector_arithmetic, float_functions, integer_functions}) {
    for (Item& item : part()) {
      items.push_back(std::move(item));
    }
  }
  return items;
}

class EveryItem : public ::testing::TestWithParam<std::tuple<DeviceName, Item>> {};

TEST_P(EveryItem, GivesTheExpectedAnswer) {
  const auto& [name, item] = GetParam();
  DUOGEMM_COMPILING_TEST_DEVICE(device, name);
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
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
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
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
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
  DUOGEMM_COMPILING_TEST_DEVICE(device, GetParam());
  Item item = qualifier_item("small_group", "out[i] = in[i];", std::vector<float>(8), "",
                             "__attribute__((reqd_work_group_size(4, 1, 1)))");
  EXPECT_THROW(run(item, device), Error);
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
