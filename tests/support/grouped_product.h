// A grouped product of random numbers, column-major, with its judge.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "check/inputs.h"
#include "check/oracle.h"
#include "draw.h"
#include "narrow.h"
#include "problem/problem.h"

namespace duogemm::testing {

struct GroupedProduct {
  // The problem has a batch of 1, and gets the groups. Of B, columns after the last end are NaN, and of C all
  // is that must not be read.
  GroupedProduct(const Problem& of, std::vector<std::int32_t> ends_of_groups, std::uint32_t seed)
      : problem(of), ends(std::move(ends_of_groups)) {
    problem.groups = static_cast<std::int64_t>(ends.size());
    problem.a_stride = problem.a_elements() + 3;
    problem.b_stride = problem.c_stride = 0;
    Draw draw(seed);
    const auto fill = [&](std::vector<float>& values, std::int64_t count, ElementType type) {
      for (std::int64_t i = 0; i < count; ++i) {
        const float value = static_cast<float>(draw.between(-1000000, 1000000)) * 0x1p-20f;
        values.push_back(type == ElementType::fp32 ? value : value_of(nearest_bits(value, type), type));
      }
    };
    fill(a, problem.a_extent(), problem.a_type);
    fill(b, problem.b_extent(), problem.b_type);
    fill(c, problem.c_extent(), problem.c_type);
    for (std::int64_t column = ends.back(); column < problem.n; ++column) {
      for (std::int64_t p = 0; p < problem.k; ++p) {
        b[index(problem.b_op == Transpose::no ? column * problem.ldb + p : p * problem.ldb + column)] = nan;
      }
    }
    for (std::size_t i = 0; i < c.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) % problem.ldc;
      c[i] = problem.beta == 0.0f || row >= problem.m ? tagged_nan(1, i) : c[i];
    }
    before = c;
  }

  // The call for it by columns, or with A and B exchanged by rows.
  Sgemm request(Layout layout) const {
    Sgemm call = request_of(problem);
    call.batch = problem.groups;
    if (layout == Layout::row_major) {
      swap_operands(call);
    }
    call.layout = layout;
    return call;
  }

  // C after the product. Where bits may not depend on the size, those of FP32 are the owed ones.
  void expect_right(const std::vector<float>& found) const {
    ASSERT_EQ(found.size(), before.size());
    std::int64_t begin = 0;
    for (std::size_t group = 0; group < ends.size(); ++group) {
      Problem one = problem;
      one.groups = 0;
      one.n = ends[group] - begin;
      if (one.n > 0) {
        const auto from = [](const std::vector<float>& all, std::int64_t place) {
          return std::span(all).subspan(index(place));
        };
        const std::int64_t in_b = begin * (problem.b_op == Transpose::no ? problem.ldb : 1);
        const Oracle oracle(one, from(a, static_cast<std::int64_t>(group) * problem.a_stride), from(b, in_b),
                            from(before, begin * problem.ldc));
        const Verdict verdict = oracle.compare(from(found, begin * problem.ldc));
        EXPECT_TRUE(verdict.ok() && (verdict.same_bits() || !problem.is_invariant() || problem.owes_terms()))
            << "group " << group << " of " << one.n << ": " << verdict.fault();
      }
      begin = ends[group];
    }
    for (std::size_t i = 0; i < found.size(); ++i) {  // between the columns
      if (static_cast<std::int64_t>(i) % problem.ldc >= problem.m) {
        ASSERT_EQ(std::memcmp(&found[i], &before[i], sizeof(float)), 0) << "element " << i;
      }
    }
  }

  Problem problem;
  std::vector<std::int32_t> ends;
  std::vector<float> a, b, c;  // values, with gaps as they are stored
  std::vector<float> before;   // C as it was
};

}  // namespace duogemm::testing
