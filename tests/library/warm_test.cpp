// Preparing programs ahead of time, on a device that only compiles, as far as anyone can see.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "devices.h"
#include "fake_device.h"
#include "plan/lower.h"
#include "refusal.h"
#include "runtime/runtime.h"
#include "system/temporary_directory.h"

namespace duogemm::testing {
namespace {

class Warm : public ::testing::Test {
 protected:
  Warm() {
    device_.binary = FakeDevice::binary_of;
    device_.at_work = [this](const std::string& entry) {
      {
        const std::lock_guard lock(mutex_);
        threads_.insert(std::this_thread::get_id());
      }
      if (entry == fails_) {
        throw Error(status_, "it does not compile");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
  }
  WarmUp warm(const Share& share = {}) {
    ProgramCache programs(device_, DiskCache(folder_.path()));
    return duogemm::warm(device_, programs, share);
  }

  const TemporaryDirectory folder_;
  Faults faults_;
  FakeDevice device_{faults_};
  std::string fails_;  // the kernel that does not compile
  Status status_ = Status::build_failed;
  std::set<std::thread::id> threads_;

 private:
  std::mutex mutex_;
};

TEST_F(Warm, CompilesEveryProgramOnceAndThenFindsThem) {
  const std::size_t count = preparations_for(device_.facts).size();
  ASSERT_GT(count, 4u);
  const WarmUp first = warm();
  EXPECT_EQ(first.programs, count);
  EXPECT_EQ(first.compiled, count);
  EXPECT_EQ(device_.compiled.size(), count);
  EXPECT_EQ(std::set(device_.compiled.begin(), device_.compiled.end()).size(), count);
  const WarmUp second = warm();
  EXPECT_EQ(second.programs, count);
  EXPECT_EQ(second.compiled, 0u);
  EXPECT_EQ(device_.compiled.size(), count);
}

TEST_F(Warm, CompilesNothingForWhatTheLibraryCarries) {
  device_.shipped = true;
  const WarmUp done = warm();
  EXPECT_GT(done.programs, 4u);
  EXPECT_EQ(done.compiled, 0u);
  EXPECT_TRUE(device_.compiled.empty());
}

TEST_F(Warm, SharesAreAllTogetherAndNoneTwice) {
  const std::size_t count = preparations_for(device_.facts).size();
  WarmUp sum;
  for (std::size_t first = 0; first < 3; ++first) {
    const WarmUp share = warm({first, 3});
    sum.programs += share.programs;
    sum.compiled += share.compiled;
  }
  EXPECT_EQ(sum.programs, count);
  EXPECT_EQ(sum.compiled, count);
  EXPECT_EQ(std::set(device_.compiled.begin(), device_.compiled.end()).size(), count);
}

TEST_F(Warm, TriesTheOthersWhenOneFailsAndNamesIt) {
  fails_ = "finish";
  const std::size_t count = preparations_for(device_.facts).size();
  const std::string said = refusal([&] { warm(); }, Status::build_failed);
  EXPECT_TRUE(said.starts_with("finish GROUP=")) << said;
  EXPECT_NE(said.find("it does not compile"), std::string::npos) << said;
  EXPECT_EQ(device_.compiled.size(), count);
}

TEST_F(Warm, PassesOverWhatTheDeviceLacks) {
  fails_ = "finish";
  status_ = Status::unsupported;
  EXPECT_EQ(warm().programs, preparations_for(device_.facts).size() - 1);
  device_.facts.local_bytes = 16 * 1024;
  for (const Preparation& preparation : preparations_for(device_.facts)) {
    EXPECT_LE(preparation.program->local_bytes, 16u * 1024);
  }
}

TEST_F(Warm, UsesThreadsWhereTheCompilerDoes) {
  warm();
  EXPECT_EQ(threads_.size(), 1u);
  if (std::thread::hardware_concurrency() < 2) {
    GTEST_SKIP() << "there is one core only";
  }
  device_.facts.compiles_concurrently = true;
  device_.facts.name = "another";
  threads_.clear();
  warm();
  EXPECT_GT(threads_.size(), 1u);
}

// On a device with measurements: its programs, and those of common problems.
TEST_F(Warm, PreparesWhatTheMeasurementsSpeakOf) {
  device_.facts = hopper();
  const std::vector<Preparation> preparations = preparations_for(device_.facts);
  for (const Variant* program : programs_of(planner_for(device_.facts))) {
    EXPECT_TRUE(std::any_of(preparations.begin(), preparations.end(),
                            [&](const Preparation& other) { return other.program == program; }))
        << program->spec->name << " " << to_text(program->tunables);
  }
}

}  // namespace
}  // namespace duogemm::testing
