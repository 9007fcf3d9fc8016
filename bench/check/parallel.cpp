#include "check/parallel.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace duogemm {

void in_parts(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& work) {
  const std::int64_t threads = std::clamp<std::int64_t>(std::thread::hardware_concurrency(), 1, count);
  std::vector<std::jthread> pool;
  for (std::int64_t t = 0; t < threads; ++t) {
    pool.emplace_back(
        [&work, from = count * t / threads, to = count * (t + 1) / threads] { work(from, to); });
  }
}

}  // namespace duogemm
