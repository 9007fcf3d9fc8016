#include "ladder/verify_problems.h"

#include <algorithm>
#include <iterator>

#include "support/format.h"

namespace duogemm::bench {
namespace {

struct Scalars {
  float alpha;
  float beta;
};

constexpr Scalars scalars[] = {{1.0f, 0.0f}, {2.0f, -1.0f}, {-1.0f, 1.0f}};

enum class BatchKind { none, strided, listed };

constexpr std::int64_t members = 3;

// The number chooses gaps between columns and between matrices, and whether a batch shares A or B.
Problem store(Problem p, BatchKind kind, std::size_t number) {
  const std::int64_t gap = static_cast<std::int64_t>(number % 3);
  p.lda = std::max<std::int64_t>(p.a_rows(), 1) + gap;
  p.ldb = std::max<std::int64_t>(p.b_rows(), 1) + (gap + 1) % 3;
  p.ldc = p.m + (gap + 2) % 3;
  if (kind == BatchKind::none) {
    return p;
  }
  const bool strided = kind == BatchKind::strided;
  p.a_stride = strided && number % 4 != 1 ? p.a_extent() + gap : 0;
  p.b_stride = strided && number % 4 != 2 ? p.b_extent() + gap : 0;
  p.c_stride = strided ? p.c_extent() + gap : 1;
  p.batch = members;
  p.batch_by = strided ? BatchBy::strides : BatchBy::offsets;
  return p;
}

}  // namespace

std::vector<Problem> ladder_problems(const std::vector<Shape>& shapes) {
  std::vector<Problem> problems;
  for (const Shape& shape : shapes) {
    const auto [alpha, beta] = scalars[problems.size() % std::size(scalars)];
    problems.push_back(Problem::packed(shape.m, shape.n, shape.k, alpha, beta));
  }
  return problems;
}

std::vector<Problem> library_problems(const std::vector<Shape>& shapes) {
  std::vector<Problem> problems;
  for (const auto& [m, n, k] : shapes) {
    for (BatchKind kind : {BatchKind::none, BatchKind::strided, BatchKind::listed}) {
      const auto add = [&](const Problem& p) { problems.push_back(store(p, kind, problems.size())); };
      for (Transpose a_op : {Transpose::no, Transpose::yes}) {
        for (Transpose b_op : {Transpose::no, Transpose::yes}) {
          const auto [alpha, beta] = scalars[problems.size() % std::size(scalars)];
          Problem problem = Problem::packed(m, n, k, alpha, beta);
          problem.a_op = a_op;
          problem.b_op = b_op;
          add(problem);
        }
      }
      Problem factors_in_memory = Problem::packed(m, n, k, 1.0f, 1.0f);
      factors_in_memory.device_scalars = true;
      add(factors_in_memory);
      add(Problem::packed(m, n, k, 0.0f, 0.0f));
      add(Problem::packed(m, n, k, 0.0f, 2.0f));
      add(Problem::packed(m, n, 0, 1.0f, -1.0f));
    }
  }
  return problems;
}

HostProblem fill(const Problem& problem, std::size_t number) {
  static constexpr Distribution distributions[] = {Distribution::integers, Distribution::signed_unit,
                                                   Distribution::unit, Distribution::wide_range};
  return random_problem(problem, distributions[number % std::size(distributions)],
                        static_cast<std::uint32_t>(number));
}

std::string describe(const Problem& p) {
  std::string text = "M=" + std::to_string(p.m) + " N=" + std::to_string(p.n) + " K=" + std::to_string(p.k) +
                     " alpha=" + format("%g", p.alpha) + " beta=" + format("%g", p.beta);
  if (p.a_op == Transpose::yes) {
    text += ", A transposed";
  }
  if (p.b_op == Transpose::yes) {
    text += ", B transposed";
  }
  if (p.device_scalars) {
    text += ", factors in memory";
  }
  if (p.batch > 1) {
    text += std::string(", a batch by ") + (p.batch_by == BatchBy::strides ? "strides" : "offsets");
  }
  return text;
}

}  // namespace duogemm::bench
