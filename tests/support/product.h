// A product of random matrices, packed, and its judge.
#pragma once

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

}  // namespace duogemm::testing
