// A sweep goes over one or two axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace duogemm::bench {

struct Axis {
  std::string name;  // a tunable, or m, n, k or size
  std::vector<std::int64_t> values;

  bool is_size() const;
};

// "WPTM=2:8:x2" (2, 4, 8), "size=256:1024:256", "TSK=8:16" (steps of 1) or "TSM=32,64,128". Throws
// invalid_argument saying what is wrong; an axis has at most 1000 values.
Axis parse_axis(const std::string& text);

}  // namespace duogemm::bench
