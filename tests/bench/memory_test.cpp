// The memory that work needs is counted, and so is what is there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "machine/memory_need.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t gigabyte = 1000000000;

// A folder with what Linux tells of memory.
class HostMemory : public ::testing::Test {
 protected:
  void SetUp() override { write("proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable:    4000000 kB\n"); }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  const fs::path root_ = fs::temp_directory_path() / ("duogemm_memory_test_" + std::to_string(getpid()));
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

DeviceInfo device_with(DeviceKind kind, std::size_t memory, std::size_t largest) {
  DeviceInfo info;
  info.kind = kind;
  info.name = "Testing";
  info.memory_bytes = memory;
  info.max_allocation_bytes = largest;
  return info;
}

void expect_lacking(const MemoryNeed& need, const DeviceInfo& info, std::size_t host,
                    const std::string& reason) {
  EXPECT_EQ(lacking_memory(need, info, host).value_or("nothing"), reason);
}

TEST(MemoryNeed, IsRefusedByWhatThereIsAndKeepsATenthFree) {
  const DeviceInfo gpu = device_with(DeviceKind::gpu, 10 * gigabyte, 5 * gigabyte);
  const DeviceInfo cpu = device_with(DeviceKind::cpu, 10 * gigabyte, 5 * gigabyte);
  const MemoryNeed need{.device = 8.9e9, .largest = 4.9e9, .host = 0.8e9};
  expect_lacking(need, gpu, gigabyte, "nothing");
  expect_lacking({9.1e9, 1.0, 0.0}, gpu, gigabyte,
                 "needs 9.10 GB of device memory; Testing has 10.00 GB, a tenth of which stays free");
  expect_lacking({6e9, 5.5e9, 0.0}, gpu, gigabyte,
                 "needs 5.50 GB of device memory in one buffer; Testing gives up to 5.00 GB");
  expect_lacking({1.0, 1.0, 0.95e9}, gpu, gigabyte,
                 "needs 0.95 GB of the machine's memory; it has 1.00 GB, a tenth of which stays free");
  expect_lacking(need, cpu, 10 * gigabyte,
                 "needs 9.70 GB of the machine's memory, the device's included; it has 10.00 GB, a tenth of "
                 "which stays free");
  expect_lacking(need, cpu, 11 * gigabyte, "nothing");
}

TEST(MemoryNeed, CountsEveryCopy) {
  const Problem problem = Problem::packed(1000, 500, 2000);
  constexpr double a = 8e6, b = 4e6, c = 2e6, slack = 1e5;
  const MemoryNeed guarded = guarded_need(problem);
  EXPECT_NEAR(guarded.device, a + b + c, slack);
  EXPECT_NEAR(guarded.largest, a, slack);
  EXPECT_NEAR(guarded.host, 2 * a, slack);
  const MemoryNeed judged = judged_need(problem);
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
  EXPECT_NEAR(guarded_need(problem).device, 4e6 * (3 + 1 + 3), 1e5);
  problem.batch_by = BatchBy::offsets;
  problem.a_stride = 0;
  problem.c_stride = 1;
  EXPECT_NEAR(guarded_need(problem).device, 4e6 * (3 + 3 + 3), 1e5);
}

}  // namespace
}  // namespace duogemm::bench
