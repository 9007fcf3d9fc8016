// A product of random matrices, packed, with its judge, and memory of which a call changes some.
#pragma once

#include <vector>

#include "check/inputs.h"
#include "check/oracle.h"
#include "duogemm/sgemm.hpp"

namespace duogemm::testing {

class Product {
 public:
  Product(std::int64_t m, std::int64_t n, std::int64_t k, std::uint32_t seed)
      : host_(random_problem(Problem::packed(m, n, k, 2.5f, 0.5f), Distribution::signed_unit, seed)),
        oracle_(host_.problem, host_.a, host_.b, host_.c) {}

  Sgemm request() const { return request_of(host_.problem); }
  const HostProblem& host() const { return host_; }
  // Splits of k give other bits than the chain has.
  bool is(const std::vector<float>& c) const {
    const Verdict found = oracle_.compare(c);
    return found.ok();
  }

 private:
  HostProblem host_;
  Oracle oracle_;
};

// Memory with something in it.
inline std::vector<int> painted(std::size_t bytes) {
  return std::vector<int>(bytes / sizeof(int), 0x5a5a5a5a);
}

// Tells whether something has changed, and only from byte `begin` to before byte `end`.
inline bool changed_within(const std::vector<int>& now, std::size_t begin, std::size_t end) {
  const int paint = painted(sizeof(int)).front();
  bool any = false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool inside = i * sizeof(int) >= begin && i * sizeof(int) < end;
    if (now[i] != paint && !inside) {
      return false;
    }
    any = any || now[i] != paint;
  }
  return any;
}

}  // namespace duogemm::testing
