// The memory that work needs is counted, and so is what is there.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "files.h"
#include "machine/memory_need.h"
#include "system/temporary_directory.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t gigabyte = 1000000000;

// A folder with what Linux tells of memory.
class HostMemory : public ::testing::Test {
 protected:
  void SetUp() override { write("proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable:    4000000 kB\n"); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    testing::overwrite(root_ / path, text);
  }

  const TemporaryDirectory folder_;
  const fs::path root_ = folder_.path();
};

TEST_F(HostMemory, IsWhatIsAvailableWithoutControlGroups) {
  EXPECT_EQ(available_host_memory(root_), 4000000u * 1024);
  EXPECT_EQ(available_host_memory(root_ / "nothing"), std::numeric_limits<std::size_t>::max());
  EXPECT_GT(available_host_memory(), 1u << 20);
}

TEST_F(HostMemory, IsLimitedByAGroupOfVersion2AndThoseAboveIt) {
  write("proc/self/cgroup", "0::/slice/job\n");
  write("sys/fs/cgroup/slice/memory.max", "3000000000\n");
  write("sys/fs/cgroup/slice/memory.current", "1500000000\n");
  write("sys/fs/cgroup/slice/memory.stat", "anon 1\ninactive_file 500000000\n");
  write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  write("sys/fs/cgroup/slice/job/memory.current", "7\n");
  EXPECT_EQ(available_host_memory(root_), 2 * gigabyte);
  write("sys/fs/cgroup/slice/job/memory.max", "1000000007\n");
  EXPECT_EQ(available_host_memory(root_), gigabyte);
  write("sys/fs/cgroup/slice/job/memory.current", "2000000000\n");
  EXPECT_EQ(available_host_memory(root_), 0u);
}

TEST_F(HostMemory, IsLimitedByAGroupOfVersion1) {
  write("proc/self/cgroup", "5:cpu:/a\n4:hugetlb,memory:/b\n0::/\n");
  write("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "2000000000\n");
  write("sys/fs/cgroup/memory/b/memory.usage_in_bytes", "1200000000\n");
  write("sys/fs/cgroup/memory/b/memory.stat", "inactive_file 1\ntotal_inactive_file 200000000\n");
  EXPECT_EQ(available_host_memory(root_), gigabyte);
}

// There the group's own folder is the mount, and its path is one of the outside.
TEST_F(HostMemory, IsLimitedByTheGroupOfAContainer) {
  write("proc/self/cgroup", "4:memory:/docker/1234\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1500000000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000000\n");
  EXPECT_EQ(available_host_memory(root_), gigabyte);
}

TEST(MemoryNeed, IsRefusedByWhatThereIsAndKeepsATenthFree) {
  DeviceInfo info;
  info.name = "Testing";
  info.memory_bytes = 10 * gigabyte;
  info.max_allocation_bytes = 5 * gigabyte;
  const auto lacking = [&](DeviceKind kind, const MemoryNeed& need, std::size_t host) {
    info.kind = kind;
    return lacking_memory(need, info, host).value_or("nothing");
  };
  const MemoryNeed need{.device = 8.9e9, .largest = 4.9e9, .host = 0.8e9};
  EXPECT_EQ(lacking(DeviceKind::gpu, need, gigabyte), "nothing");
  EXPECT_EQ(lacking(DeviceKind::gpu, {9.1e9, 1.0, 0.0}, gigabyte),
            "needs 9.10 GB of device memory; Testing has 10.00 GB, a tenth of which stays free");
  EXPECT_EQ(lacking(DeviceKind::gpu, {6e9, 5.5e9, 0.0}, gigabyte),
            "needs 5.50 GB of device memory in one buffer; Testing gives up to 5.00 GB");
  EXPECT_EQ(lacking(DeviceKind::gpu, {1.0, 1.0, 0.95e9}, gigabyte),
            "needs 0.95 GB of the machine's memory; it has 1.00 GB, a tenth of which stays free");
  EXPECT_EQ(lacking(DeviceKind::cpu, need, 10 * gigabyte),
            "needs 9.70 GB of the machine's memory, the device's included; it has 10.00 GB, a tenth of "
            "which stays free");
  EXPECT_EQ(lacking(DeviceKind::cpu, need, 11 * gigabyte), "nothing");
}

TEST(MemoryNeed, CountsEveryCopy) {
  const Problem problem = Problem::packed(1000, 500, 2000);
  constexpr double a = 8e6, b = 4e6, c = 2e6, slack = 1e5;
  const MemoryNeed guarded = guarded_need(problem, {});
  EXPECT_NEAR(guarded.device, a + b + c, slack);
  EXPECT_NEAR(guarded.largest, a, slack);
  EXPECT_NEAR(guarded.host, 2 * a, slack);  // what is found in the largest, and what was
  EXPECT_LT(guarded_need(Problem::packed(16, 16, 16), {}).host, slack);
  const MemoryNeed judged = judged_need(problem, {});
  EXPECT_NEAR(judged.device, guarded.device, slack);
  EXPECT_NEAR(judged.host, guarded.host + (a + b + c) + 20 * 1000 * 500, slack);
  MemoryNeed both = judged;
  both += guarded;
  EXPECT_NEAR(both.device, 2 * (a + b + c), slack);
  EXPECT_NEAR(both.largest, a, slack);
  EXPECT_EQ(larger(both, guarded).host, both.host);
}

TEST(MemoryNeed, CountsEveryMemberOfABatch) {
  Problem problem = Problem::packed(1000, 1000, 1000);
  problem.batch = 3;
  problem.a_stride = problem.c_stride = 1000000;
  EXPECT_NEAR(guarded_need(problem, {}).device, 4e6 * (3 + 1 + 3), 1e5);
  problem.batch_by = BatchBy::offsets;
  problem.a_stride = 0;
  problem.c_stride = 1;
  EXPECT_NEAR(guarded_need(problem, {}).device, 4e6 * (3 + 3 + 3), 1e5);
}

}  // namespace
}  // namespace duogemm::bench
