// Tuning files are read as they were written. Those that somebody has damaged are refused with a reason, or
// the planner can plan by them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "devices.h"
#include "plan/lower.h"
#include "refusal.h"
#include "system/parse_json.h"

namespace duogemm::testing {
namespace {

// A file for a GPU with one kernel and one shape.
const char* const whole = R"({
 "schema": "duogemm.tuning/4",
 "device": {"backend": "opencl", "kind": "gpu", "name": "", "compute_capability": 0, "vector_floats": 0},
 "evidence": "a test",
 "bandwidth_gb_s": 3000.0, "reading_gb_s": 3000.0, "cached_gb_s": 6000.0, "launch_us": 2.0, "cache_mb": 40.0,
 "cluster_group_units": 16.0, "cluster_units": 120.0,
 "registers": {"VECTORS": 3},
 "kernels": [{"kernel": "general", "tunables": ["TSM", "TSN"],
              "settings": [[[32, 32], [[1, 1.0, 10.0], [2, 1.5, 12.0]]]]}],
 "shapes": [{"a_op": "N", "b_op": "N", "m": 64, "n": 64, "k": 640, "batch": 1, "kernel": "pipelined",
             "tunables": {"TSM": 64}, "slices": 2, "pack_a": false, "pack_b": false, "clustered": false,
             "us": 10.0}]
})";

std::string refusal_of(const std::string& text) {
  return refusal([&] { parse_tuning(text, "x.json"); });
}

// The file with one member changed.
std::string with(const Json::json_pointer& member, const Json& value) {
  Json document = Json::parse(whole);
  document[member] = value;
  return document.dump();
}

// Plans whatever comes near to the file's own shape.
void plan_by(const Tuning& tuning) {
  for (const bool clusters : {false, true}) {
    const DeviceInfo device = large_gpu(clusters);
    const Planner planner(device, tuning);
    for (const std::int64_t m : {64, 1000}) {
      const Problem problem = Problem::packed(m, 64, 640);
      lay_out_workspaces(lower(planner.select(problem), problem, device), device);
    }
  }
}

Tuning some_tuning() {
  const KernelSpec& spec = find_kernel("pipelined");
  Tuning tuning;
  tuning.target = {"cuda", "gpu", "some device", 90, 16};
  tuning.source = "some file";
  tuning.evidence = "measured";
  tuning.bandwidth = 4e12;
  tuning.launch = 1.5e-6;
  tuning.reading = 5e12;
  tuning.clusters = {16, 120};
  tuning.cache = 6e7;
  const KernelSpec& other = find_kernel("general");
  tuning.calibrations = {{&spec, resolve(spec, {{"TSM", 128}}), {{1, 2e-6, 5e-8}, {2, 3e-6, 1e-7}}},
                         {&spec, resolve(spec, {{"TSM", 64}}), {{1, 2e-6, 5e-8}}},
                         {&other, resolve(other, {}), {{1, 1.25e-6, 5e-8}}}};
  tuning.registers = {{"COLS", 8}, {"WIDTH", 16}};
  tuning.shapes = {{true, false, 100, 200, 300, 4, {&spec, {{"TSM", 32}}, 2, true, true, false}, 1e-5}};
  return tuning;
}

// With a line for each setting and shape.
TEST(TuningFile, IsReadAsItWasWritten) {
  const std::string json = to_json(some_tuning());
  EXPECT_EQ(std::ranges::count(json, '\n'), 32) << json;
  const Tuning read = parse_tuning(json, "some file");
  EXPECT_EQ(to_json(read), json);
  EXPECT_EQ(read.target.name, "some device");
  EXPECT_EQ(read.target.compute_capability, 90);
  EXPECT_DOUBLE_EQ(read.reading, 5e12);
  EXPECT_DOUBLE_EQ(read.clusters.usable_units, 120);
  EXPECT_DOUBLE_EQ(read.cache, 6e7);
  EXPECT_EQ(read.registers, (Tunables{{"COLS", 8}, {"WIDTH", 16}}));
  ASSERT_EQ(read.calibrations.size(), 3u);
  EXPECT_EQ(read.calibrations[1].tunables.at("TSM"), 64);
  EXPECT_DOUBLE_EQ(read.calibrations[0].timings.at(1).per_k, 1e-7);
  const TunedShape& shape = read.shapes.at(0);
  EXPECT_TRUE(shape.request.splits == 2 && shape.request.clustered);
  EXPECT_TRUE(shape.request.pack_a && !shape.request.pack_b);
  EXPECT_DOUBLE_EQ(shape.seconds, 1e-5);
}

TEST(TuningFile, IsReadAndPlannedBy) {
  const Tuning tuning = parse_tuning(whole, "x.json");
  const Planner planner(large_gpu(false), tuning);
  EXPECT_EQ(planner.select(Problem::packed(64, 64, 640)).splits, 2);
  EXPECT_EQ(planner.select(Problem::packed(64, 64, 320)).kernel->spec->name, "general");
}

// As many splits as a number can tell have more partial sums than can be counted.
TEST(TuningFile, IsPlannedAroundWhereItsShapeHasNoWorkspace) {
  Json document = Json::parse(whole);
  Json& shape = document["shapes"][0];
  shape["m"] = shape["n"] = 1 << 20;
  shape["k"] = 1 << 30;
  shape["slices"] = std::numeric_limits<int>::max();
  const Planner planner(large_gpu(false), parse_tuning(document.dump(), "x.json"));
  EXPECT_NO_THROW(planner.select(Problem::packed(1 << 20, 1 << 20, 1 << 30)));
}

TEST(TuningFile, IsRefusedWithTheMemberAndWhatIsAllowed) {
  using Pointer = Json::json_pointer;
  const std::string shape = "/shapes/0/";
  const std::string setting = "/kernels/0/settings/0/";
  const std::tuple<std::string, Json, std::string> damages[] = {
      {"/schema", "duogemm.tuning/9", "schema \"duogemm.tuning/9\"; this version reads"},
      {"/device/kind", 5, "kind is 5; it must be a text"},
      {"/device/compute_capability", 1e10,
       "compute_capability is 10000000000.0; it must be a whole number from 0"},
      {"/bandwidth_gb_s", -1, "bandwidth_gb_s is -1; it must be a number from 0 to 1e+12"},
      {"/launch_us", "2", "launch_us is \"2\"; it must be a number"},
      {"/registers/VECTORS", 4294967299, "VECTORS is 4294967299; it must be a whole number"},
      {setting + "0/0", 4294967328, "a tunable's value is 4294967328; it must be a whole number"},
      {setting + "1/0/0", 0, "a timing's number of work-groups is 0; it must be a whole number from 1"},
      {setting + "1/1/0", 1, "a timing's number of work-groups is 1; it must be a whole number from 2"},
      {setting + "1/0/1", -1.0, "a timing's time is -1.0; it must be a number from 0"},
      {shape + "slices", 0, "slices=0: at least 1, and 1 for kernels that do not split k"},
      {shape + "slices", -3, "slices=-3: at least 1"},
      {shape + "slices", 4294967297, "slices is 4294967297; it must be a whole number"},
      {shape + "kernel", "general", "slices=2: at least 1, and 1 for kernels that do not split k"},
      {shape + "tunables/TSM", 4294967360, "TSM is 4294967360; it must be a whole number"},
      {shape + "m", 0, "m is 0; it must be a whole number from 1 to 1152921504606846976"},
      {shape + "a_op", "C", "a_op is \"C\"; it must be \"N\" or \"T\""},
      {shape + "pack_a", 1, "pack_a is 1; it must be true or false"},
      {shape + "us", -1, "us is -1; it must be a number from 0"},
      {"/kernels/0/kernel", "unheard_of", "unheard_of"},
      {"/kernels/0/tunables/0", "TSQ", "TSQ"},
      {setting + "0/0", 129, "TSM=129"},
      {setting + "0", Json::array({32}), "values"},
      {setting + "1", Json::array(), "no timings"},
      {"/registers/WIDTH", 17, "WIDTH=17"},
  };
  for (const auto& [member, value, reason] : damages) {
    const std::string said = refusal_of(with(Pointer(member), value));
    EXPECT_TRUE(said.starts_with("x.json: ")) << said;
    EXPECT_NE(said.find(reason), std::string::npos) << member << " " << value << " -> " << said;
  }
  const std::string text = whole;
  EXPECT_EQ(refusal_of(text.substr(0, text.size() / 2)).find("x.json: this is no JSON from line "), 0u);
  EXPECT_EQ(refusal_of(std::string(100'000, '[')), "x.json: this JSON is nested deeper than 64 levels");
}

// Finds all members and elements of a document.
void find_all(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& all) {
  all.push_back(at);
  for (const auto& [key, part] : value.items()) {
    if (value.is_structured()) {
      find_all(part, value.is_array() ? at / static_cast<std::size_t>(std::stoul(key)) : at / key, all);
    }
  }
}

// Each value in turn is another, which may be of another kind.
TEST(TuningFile, EndsNoProcessWhateverAValueIs) {
  const Json document = Json::parse(whole);
  std::vector<Json::json_pointer> all;
  find_all(document, Json::json_pointer(), all);
  ASSERT_GT(all.size(), 50u);
  const Json values =
      Json::parse(R"([null, true, 0, 1, 3, -1, 2147483648, 4294967296, 1e-300, 0.5, 1e12, 1e300,
      9223372036854775807, -9223372036854775808, 18446744073709551615, "", "T", "tensor", "finish",
      "cpu_panels", [], {}, [1, 2], [[]], {"TSM": 1}])");
  std::size_t accepted = 0;
  for (const Json::json_pointer& member : all) {
    for (const Json& value : values) {
      SCOPED_TRACE(member.to_string() + " = " + value.dump());
      try {
        plan_by(parse_tuning(with(member, value), "x.json"));
        ++accepted;
      } catch (const Error&) {
        // It was refused, with a reason.
      }
    }
  }
  EXPECT_GT(accepted, 50u);
}

// Named as `tune` does it, without a compute capability. The shipped file of the card has one.
TEST(TuningFile, OfAUserComesBeforeTheShippedOne) {
  const Json named = {{"backend", "cuda"}, {"kind", "gpu"}, {"name", hopper().name}};
  const Tuning own[] = {parse_tuning(with(Json::json_pointer("/device"), named), "own.json")};
  EXPECT_EQ(tuning_for(hopper(), own).source, "own.json");
  EXPECT_NE(tuning_for(hopper(), {}).source, "own.json");
}

}  // namespace
}  // namespace duogemm::testing
