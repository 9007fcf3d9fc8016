// Every rung, with every switch and many tile settings, on every device, on problems around the edges of its
// tiles: the bits of the fmaf chain, the error bound, and nothing else touched.
#include "ladder/ladder.h"

#include <algorithm>
#include <random>

#include "check/judge.h"
#include "check_plan.h"
#include "families/kernel_source.h"
#include "rungs/rungs.h"
#include "test_devices.h"

namespace duogemm::testing {
namespace {

constexpr std::size_t most_local_bytes = 48 * 1024;
constexpr std::size_t most_work_items = 1024;

struct LadderCase {
  DeviceName device;
  LadderSetting setting;
};

std::ostream& operator<<(std::ostream& out, const LadderCase& c) {
  return out << c.device.text() << " " << c.setting.spec->name << " " << to_text(c.setting.tunables);
}

std::string test_name(const ::testing::TestParamInfo<LadderCase>& info) {
  std::string name = info.param.device.text() + "_" + info.param.setting.spec->name;
  for (const auto& [tunable, value] : info.param.setting.distinct) {
    name += "_" + tunable + std::to_string(value);
  }
  std::erase(name, '-');
  return name;
}

// One of all that the declared ranges allow.
Tunables any_setting(const std::vector<TunableDeclaration>& declared, std::mt19937& random) {
  Tunables setting;
  for (const TunableDeclaration& tunable : declared) {
    setting[tunable.name] = tunable.allowed[random() % tunable.allowed.size()];
  }
  return setting;
}

// Tells how a setting's tile lies: drawing some of each sort makes sure that both kinds of rectangle are
// tested.
int orientation(const Rung& spec, const Tunables& tunables) {
  const Multiples multiples = spec.multiples(tunables);
  return multiples.m < multiples.n ? -1 : multiples.m > multiples.n ? 1 : 0;
}

// The rung's own settings, each combination of its switches, and a few others drawn from all that are legal.
std::vector<LadderSetting> settings_of(const Rung& spec) {
  std::vector<LadderSetting> settings;
  const auto add = [&](const Tunables& tunables) {
    const std::size_t before = settings.size();
    for (LadderSetting& setting : ladder_settings({{spec.name}, tunables, {}})) {
      const auto same = [&](const LadderSetting& other) { return other.tunables == setting.tunables; };
      if (std::none_of(settings.begin(), settings.end(), same)) {
        settings.push_back(std::move(setting));
      }
    }
    return settings.size() > before;
  };
  add({});
  const Tunables standard = settings.front().tunables;
  if (standard.contains("USE_LDG")) {
    for (int switches = 0; switches < 4; ++switches) {
      add({{"USE_LDG", switches / 2}, {"USE_SHUFFLE", switches % 2}});
    }
  }
  const std::vector<TunableDeclaration> declared = load_kernel(spec.path).tunables;
  std::mt19937 random(7);
  std::map<int, int> wanted = {{-1, 2}, {0, 2}, {1, 2}};
  for (int draws = 0; draws < 2000; ++draws) {
    const Tunables tunables = any_setting(declared, random);
    if (!keeps_rules(spec, tunables) || wanted[orientation(spec, tunables)] == 0 ||
        spec.local_bytes(tunables) > most_local_bytes) {
      continue;
    }
    const Extent local = spec.geometry(1, 1, tunables).local;
    if (local[0] * local[1] <= most_work_items && add(tunables)) {
      --wanted[orientation(spec, tunables)];
    }
  }
  return settings;
}

std::vector<LadderCase> all_cases() {
  std::vector<LadderCase> cases;
  for (const Rung& rung : rungs()) {
    for (const LadderSetting& setting : settings_of(rung)) {
      for (const DeviceName& device : test_devices()) {
        cases.push_back({device, setting});
      }
    }
  }
  return cases;
}

// Skipped where the device cannot run the setting.
class Ladder : public ::testing::TestWithParam<LadderCase> {
 protected:
  void SetUp() override {
    std::string why;
    on_ = find_test_device(GetParam().device, why);
    if (on_ == nullptr) {
      GTEST_SKIP() << why;
    }
    try {
      check(Problem::packed(1, 1, 1), Distribution::integers, 1);
    } catch (const Error& error) {
      ASSERT_EQ(error.status(), Status::unsupported) << error.what();
      GTEST_SKIP() << "needs " << error.what();
    }
  }

  Verdict run(const HostProblem& host) const {
    return run_plan(plan_setting(GetParam().setting, host.problem, on_->device->info()), host, *on_).verdict;
  }
  void check(const Problem& p, Distribution distribution, std::uint32_t seed) const {
    const Verdict found = run(random_problem(p, distribution, seed));
    EXPECT_TRUE(reorders(GetParam().setting) ? found.ok() : found.exact())
        << "M=" << p.m << " N=" << p.n << " K=" << p.k << " alpha=" << p.alpha << " beta=" << p.beta << ": "
        << found.fault();
  }

  static Multiples multiples() {
    return as_rung(*GetParam().setting.spec)->multiples(GetParam().setting.tunables);
  }

  TestDevice* on_ = nullptr;
};

TEST_P(Ladder, IntegersAreExact) {
  constexpr float scalars[] = {-1.0f, 0.0f, 1.0f, 2.0f};
  std::uint32_t seed = 0;
  for (const Shape& shape : edge_shapes(multiples())) {
    const float alpha = scalars[seed % 4];
    const float beta = scalars[(seed / 2 + 1) % 4];
    check(Problem::packed(shape.m, shape.n, shape.k, alpha, beta), Distribution::integers, seed++);
  }
}

TEST_P(Ladder, RealsAreWithinTheBoundAndHaveTheOwedBits) {
  constexpr std::pair<float, float> scalars[] = {{1.0f, 0.0f}, {0.7f, -1.3f}, {-2.5f, 1.0f}};
  std::uint32_t seed = 100;
  for (const Shape& shape : edge_shapes(multiples())) {
    for (const Distribution distribution :
         {Distribution::signed_unit, Distribution::unit, Distribution::wide_range}) {
      const auto [alpha, beta] = scalars[seed % 3];
      check(Problem::packed(shape.m, shape.n, shape.k, alpha, beta), distribution, seed++);
    }
    ++seed;  // so that every distribution meets every pair of scalars
  }
}

// Rungs that number their tiles in strips have one here that is full, and another that is not.
TEST_P(Ladder, TilesOfTheLastStripAreComputed) {
  const Tunables& tunables = GetParam().setting.tunables;
  if (tunables.contains("GROUP_M")) {
    const std::int64_t rows = (tunables.at("GROUP_M") + 2) * multiples().m - 3;
    check(Problem::packed(rows, 2 * multiples().n, 5), Distribution::integers, 1);
  }
}

TEST_P(Ladder, TransposesAndLeadingDimensions) {
  const Shape shape = edge_shapes(multiples())[3];
  for (std::uint32_t bits = 0; bits < 16; ++bits) {
    Problem problem = Problem::packed(shape.m, shape.n, shape.k, 1.5f, bits % 3 == 0 ? 0.0f : 0.5f);
    problem.a_op = bits & 1 ? Transpose::yes : Transpose::no;
    problem.b_op = bits & 2 ? Transpose::yes : Transpose::no;
    problem.lda = problem.a_rows() + (bits & 4 ? 3 : 0);
    problem.ldb = problem.b_rows() + (bits & 4 ? 5 : 0);
    problem.ldc = problem.m + (bits & 8 ? 2 : 0);
    check(problem, Distribution::signed_unit, bits);
  }
}

// A sum that ends in -0 (here by underflow, which the error bound does not speak of) stays -0 through the
// padding that follows it.
TEST_P(Ladder, PaddingKeepsMinusZero) {
  HostProblem host = random_problem(Problem::packed(33, 17, 5), Distribution::signed_unit, 1);
  std::ranges::fill(host.a, -0x1p-100f);
  std::ranges::fill(host.b, 0x1p-100f);
  const Verdict found = run(host);
  EXPECT_TRUE(reorders(GetParam().setting) || found.same_bits()) << found.fault();
}

class Arithmetic : public ::testing::TestWithParam<DeviceName> {};

TEST_P(Arithmetic, IsWhatTheSameBitsNeed) {
  DUOGEMM_WHOLE_DIALECT_TEST_DEVICE(device, GetParam());
  EXPECT_EQ(broken_instructions(*device.device, *device.queue), "");
  EXPECT_TRUE(fuses_multiply_add(*device.device, *device.queue));
}

INSTANTIATE_TEST_SUITE_P(Devices, Arithmetic, ::testing::ValuesIn(test_devices()), device_name);
INSTANTIATE_TEST_SUITE_P(Rungs, Ladder, ::testing::ValuesIn(all_cases()), test_name);

}  // namespace
}  // namespace duogemm::testing
