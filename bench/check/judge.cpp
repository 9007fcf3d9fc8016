#include "check/judge.h"

#include <algorithm>
#include <bit>
#include <random>
#include <set>
#include <string>

// Compiled into this file: there is nothing to link.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace duogemm::bench {
namespace {

// Multiply-adds that a judge may spend on a whole member of a batch, and on all that it computes anew; what
// an element costs besides.
constexpr double whole_work = 1 << 24;
constexpr double all_work = 1 << 25;
constexpr double element_work = 64;
constexpr std::int64_t some = 17;  // rows, and columns, of a large problem

double work_of(std::int64_t rows, std::int64_t cols, std::int64_t k) {
  return static_cast<double>(rows) * static_cast<double>(cols) * (static_cast<double>(k) + element_work);
}

// `count` different numbers below `end`, 0 and end - 1 among them, in ascending order.
std::vector<std::int64_t> choose(std::int64_t count, std::int64_t end, std::mt19937_64& engine) {
  std::set<std::int64_t> chosen = {0, end - 1};
  while (static_cast<std::int64_t>(chosen.size()) < std::min(count, end)) {
    chosen.insert(static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(end)));
  }
  return {chosen.begin(), chosen.end()};
}

struct Selection {
  std::vector<std::int64_t> members, rows, cols;
};

Selection select(const Problem& p) {
  std::int64_t rows = p.m;
  std::int64_t cols = p.n;
  if (work_of(rows, cols, p.k) > whole_work) {
    // As many elements as some x some, also where there are fewer rows or columns.
    rows = std::min(p.m, std::max(some, some * some / std::min(p.n, some)));
    cols = std::min(p.n, std::max(some, some * some / std::min(p.m, some)));
  }
  const auto members = static_cast<std::int64_t>(std::clamp(all_work / work_of(rows, cols, p.k), 2.0, 64.0));
  std::mt19937_64 engine(1);
  return {choose(members, p.batch, engine), choose(rows, p.m, engine), choose(cols, p.n, engine)};
}

// What the oracle is given of a member: the chosen rows of op(A), columns of op(B), and where they cross in
// C.
Oracle oracle_of(const Problem& p, std::int64_t member, const Selection& chosen) {
  const TestData& data = test_data();
  const std::int64_t m = static_cast<std::int64_t>(chosen.rows.size());
  const std::int64_t n = static_cast<std::int64_t>(chosen.cols.size());
  std::vector<float> a, b, c;
  for (std::int64_t k = 0; k < p.k; ++k) {
    for (std::int64_t row : chosen.rows) {
      a.push_back(
          data.a.at(member * p.a_stride + (p.a_op == Transpose::no ? k * p.lda + row : row * p.lda + k)));
    }
  }
  for (std::int64_t col : chosen.cols) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      b.push_back(
          data.b.at(member * p.b_stride + (p.b_op == Transpose::no ? col * p.ldb + k : k * p.ldb + col)));
    }
    for (std::int64_t row : chosen.rows) {
      c.push_back(data.initial_c(p.beta).at(member * p.c_stride + col * p.ldc + row));
    }
  }
  return Oracle(Problem::packed(m, n, p.k, p.alpha, p.beta), a, b, c);
}

using Piece = GuardedArray::Piece;

// A hash of all bits, piece by piece.
class Fingerprint {
 public:
  Fingerprint() : state_(XXH3_createState()) { XXH3_64bits_reset(state_); }
  ~Fingerprint() { XXH3_freeState(state_); }
  Fingerprint(const Fingerprint&) = delete;
  Fingerprint& operator=(const Fingerprint&) = delete;
  void add(std::span<const float> numbers) {
    XXH3_64bits_update(state_, numbers.data(), numbers.size_bytes());
  }
  std::uint64_t value() const { return XXH3_64bits_digest(state_); }

 private:
  XXH3_state_t* state_;
};

}  // namespace

// The chosen rows and columns, twice, in arrays that grow to twice of what they hold; and two pieces of an
// operand.
double Judge::host_bytes(const Problem& problem) {
  const Selection chosen = select(problem);
  const double inputs =
      static_cast<double>(chosen.rows.size() + chosen.cols.size()) * static_cast<double>(problem.k);
  const double outputs = static_cast<double>(chosen.rows.size() * chosen.cols.size());
  return 4 * sizeof(float) * inputs +
         (sizeof(Sample) + 2 * sizeof(double) + sizeof(float)) * outputs *
             static_cast<double>(chosen.members.size()) +
         static_cast<double>(GuardedArray::host_bytes());
}

Judge::Judge(const Problem& problem) : problem_(problem) {
  const Selection chosen = select(problem);
  for (std::int64_t member : chosen.members) {
    for (std::size_t j = 0; j < chosen.cols.size(); ++j) {
      for (std::size_t i = 0; i < chosen.rows.size(); ++i) {
        const std::int64_t row = chosen.rows[i];
        const std::int64_t col = chosen.cols[j];
        samples_.push_back({member * problem.c_stride + col * problem.ldc + row, member, row, col,
                            oracles_.size(), static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
      }
    }
    oracles_.push_back(oracle_of(problem, member, chosen));
  }
  std::sort(samples_.begin(), samples_.end(),
            [](const Sample& a, const Sample& b) { return a.place < b.place; });
}

Verdict Judge::look_at_c(const OperandSets& sets, Queue& queue) const {
  Verdict verdict;
  Fingerprint fingerprint;
  ResultInspection inspection(problem_);
  auto next = samples_.begin();
  sets.c().look(queue, [&](const Piece& piece) {
    inspection.look_at(piece, verdict);
    const std::int64_t end = piece.first + static_cast<std::int64_t>(piece.found.size());
    for (; next != samples_.end() && next->place < end; ++next) {
      judge_sample(*next, piece.found[static_cast<std::size_t>(next->place - piece.first)], verdict);
    }
    fingerprint.add(piece.found);
  });
  verdict.fingerprint = fingerprint.value();
  return verdict;
}

Verdict Judge::look_at_all(const OperandSets& sets, Queue& queue) const {
  Verdict verdict = look_at_c(sets, queue);
  for (const auto& [name, input] : {std::pair("A", &sets.a()), std::pair("B", &sets.b())}) {
    input->look(queue, [&, name = name](const Piece& piece) { expect_untouched(name, piece, verdict); });
  }
  return verdict;
}

void Judge::judge_sample(const Sample& sample, float found, Verdict& verdict) const {
  const Oracle& oracle = oracles_[sample.oracle];
  const double error = oracle.error(sample.oracle_row, sample.oracle_col, found);
  const float expected = oracle.expected(sample.oracle_row, sample.oracle_col);
  ++verdict.computed;
  verdict.different_bits += std::bit_cast<std::uint32_t>(found) != std::bit_cast<std::uint32_t>(expected);
  verdict.worst_error = std::max(verdict.worst_error, error);
  if (error > 1.0 && verdict.first_fault.empty()) {
    verdict.first_fault = "C(" + std::to_string(sample.row) + ", " + std::to_string(sample.col) + ")" +
                          (problem_.batch > 1 ? " of member " + std::to_string(sample.member) : "") + " is " +
                          std::to_string(found) + ", expected " + std::to_string(expected);
  }
}

}  // namespace duogemm::bench
