#include "check/judge.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>

// Compiled into this file: there is nothing to link.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace duogemm {
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

void note(Verdict& verdict, std::size_t& count, const std::string& fault) {
  if (++count == 1 && verdict.first_fault.empty()) {
    verdict.first_fault = fault;
  }
}

// Nothing may have changed from `from` to `to`, places in the array.
void expect_untouched(const char* name, const GuardedArray::Piece& piece, std::int64_t from, std::int64_t to,
                      Verdict& verdict) {
  const std::size_t begin = static_cast<std::size_t>(from - piece.first);
  const std::size_t end = static_cast<std::size_t>(to - piece.first);
  if (std::memcmp(&piece.found[begin], &piece.filled[begin], (end - begin) * sizeof(float)) == 0) {
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    if (std::memcmp(&piece.found[i], &piece.filled[i], sizeof(float)) != 0) {
      note(verdict, verdict.overwritten,
           std::string(name) + "[" + std::to_string(piece.first + static_cast<std::int64_t>(i)) +
               "] was overwritten");
    }
  }
}

bool is_finite(float value) {
  constexpr std::uint32_t exponent = 0x7f800000;
  return (std::bit_cast<std::uint32_t>(value) & exponent) != exponent;
}

void expect_finite(const GuardedArray::Piece& piece, std::int64_t from, std::int64_t to, Verdict& verdict) {
  const auto part =
      piece.found.subspan(static_cast<std::size_t>(from - piece.first), static_cast<std::size_t>(to - from));
  const auto wrong = std::ranges::find_if_not(part, is_finite);
  if (wrong != part.end()) {
    note(verdict, verdict.not_finite,
         "C[" + std::to_string(from + (wrong - part.begin())) + "] is " + std::to_string(*wrong) +
             " or was not written");
    verdict.not_finite +=
        static_cast<std::size_t>(part.end() - wrong - 1 - std::count_if(wrong + 1, part.end(), is_finite));
  }
}

std::vector<std::int64_t> up_to(std::int64_t end) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(end));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// Answers the number's position among these; nothing when it is not there.
std::optional<std::size_t> find(const std::vector<std::int64_t>& numbers, std::int64_t number) {
  const auto found = std::ranges::lower_bound(numbers, number);
  return found != numbers.end() && *found == number
             ? std::optional(static_cast<std::size_t>(found - numbers.begin()))
             : std::nullopt;
}

}  // namespace

Judge::Selection Judge::select(const Problem& p) {
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

// The oracle gets the chosen rows of op(A) and columns of op(B) of a member, and where they cross in C.
Oracle Judge::oracle_of(const Problem& p, std::int64_t member, const Selection& chosen) {
  const auto at = [](const std::vector<float>& numbers, std::int64_t index) {
    return numbers[static_cast<std::size_t>(index % TestData::period)];
  };
  const TestData& data = test_data();
  std::vector<float> a, b, c;
  for (std::int64_t k = 0; k < p.k; ++k) {
    for (std::int64_t row : chosen.rows) {
      const std::int64_t place = p.a_op == Transpose::no ? k * p.lda + row : row * p.lda + k;
      a.push_back(at(data.a, member * p.a_stride + place));
    }
  }
  for (std::int64_t col : chosen.cols) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      const std::int64_t place = p.b_op == Transpose::no ? col * p.ldb + k : k * p.ldb + col;
      b.push_back(at(data.b, member * p.b_stride + place));
    }
    for (std::int64_t row : chosen.rows) {
      c.push_back(at(data.initial_c(p.beta), member * p.c_stride + col * p.ldc + row));
    }
  }
  Problem problem = Problem::packed(std::ssize(chosen.rows), std::ssize(chosen.cols), p.k, p.alpha, p.beta);
  problem.level = p.level;
  return Oracle(problem, a, b, c);
}

// The chosen rows and columns, twice, in arrays that grow to twice of what they hold; and two pieces of an
// operand.
double Judge::host_bytes(const Problem& problem) {
  const Selection chosen = select(problem);
  const double inputs =
      static_cast<double>(chosen.rows.size() + chosen.cols.size()) * static_cast<double>(problem.k);
  const double outputs = static_cast<double>(chosen.rows.size() * chosen.cols.size());
  return 4 * sizeof(float) * inputs +
         (2 * sizeof(double) + sizeof(float)) * outputs * static_cast<double>(chosen.members.size()) +
         static_cast<double>(GuardedArray::host_bytes());
}

Judge::Judge(const HostProblem& host)
    : problem_(host.problem),
      chosen_{up_to(problem_.batch), up_to(problem_.m), up_to(problem_.n)},
      finite_(false) {
  const auto from = [](const std::vector<float>& array, std::int64_t place) {
    return std::span(array).subspan(static_cast<std::size_t>(place));
  };
  for (std::size_t i = 0; i < host.c_places.size(); ++i) {
    oracles_.emplace_back(host.problem, from(host.a, host.a_places[i]), from(host.b, host.b_places[i]),
                          from(host.c, host.c_places[i]));
  }
  if (problem_.batch_by != BatchBy::strides) {
    places_ = host.c_places;
    order_ = chosen_.members;
    std::ranges::sort(order_, {}, [&](std::int64_t i) { return places_[static_cast<std::size_t>(i)]; });
  }
}

Judge::Judge(const Problem& problem) : problem_(problem), chosen_(select(problem)), finite_(true) {
  for (std::int64_t member : chosen_.members) {
    oracles_.push_back(oracle_of(problem, member, chosen_));
  }
}

Verdict Judge::look_at_c(const GuardedOperands& operands, Queue& queue) const {
  Verdict verdict;
  std::int64_t next = 0;  // column
  operands.c().look(queue, [&](const GuardedArray::Piece& piece) {
    look_at(piece, next, verdict);
    verdict.fingerprint =
        XXH3_64bits_withSeed(piece.found.data(), piece.found.size_bytes(), verdict.fingerprint);
  });
  return verdict;
}

Verdict Judge::look_at_all(const GuardedOperands& operands, Queue& queue) const {
  Verdict verdict = look_at_c(operands, queue);
  for (const auto& [name, input] : {std::pair("A", &operands.a()), std::pair("B", &operands.b())}) {
    input->look(queue, [&, name = name](const GuardedArray::Piece& piece) {
      expect_untouched(name, piece, piece.first, piece.first + static_cast<std::int64_t>(piece.found.size()),
                       verdict);
    });
  }
  return verdict;
}

Judge::Column Judge::column(std::int64_t number) const {
  if (!places_.empty()) {
    const std::int64_t member = order_[static_cast<std::size_t>(number / problem_.n)];
    const std::int64_t col = number % problem_.n;
    return {member, col, places_[static_cast<std::size_t>(member)] + col * problem_.ldc};
  }
  // Results may stand side by side: a column of each, then the next of each.
  const bool members_first = problem_.c_stride < problem_.ldc * (problem_.n - 1) + problem_.m;
  const std::int64_t member = members_first ? number % problem_.batch : number / problem_.n;
  const std::int64_t col = members_first ? number / problem_.batch : number % problem_.n;
  return {member, col, member * problem_.c_stride + col * problem_.ldc};
}

// number: of the column that comes next in memory.
void Judge::look_at(const GuardedArray::Piece& piece, std::int64_t& number, Verdict& verdict) const {
  const std::int64_t end = piece.first + static_cast<std::int64_t>(piece.found.size());
  const std::int64_t columns = problem_.n * problem_.batch;
  for (std::int64_t at = piece.first; at < end;) {
    const Column next = number < columns ? column(number) : Column{0, 0, end};
    const bool between = at < next.place;
    const std::int64_t stop = std::min(between ? next.place : next.place + problem_.m, end);
    if (between) {
      expect_untouched("C", piece, at, stop, verdict);
    } else {
      judge(piece, next, at, stop, verdict);
      number += stop == next.place + problem_.m;
    }
    at = stop;
  }
}

// The part of the column that is at places in the piece.
void Judge::judge(const GuardedArray::Piece& piece, const Column& column, std::int64_t from, std::int64_t to,
                  Verdict& verdict) const {
  if (finite_) {
    expect_finite(piece, from, to, verdict);
  }
  const auto member = find(chosen_.members, column.member);
  const auto col = find(chosen_.cols, column.col);
  if (!member || !col) {
    return;
  }
  const auto begin = chosen_.rows.begin();
  for (auto row = std::lower_bound(begin, chosen_.rows.end(), from - column.place);
       row != chosen_.rows.end() && column.place + *row < to; ++row) {
    const Element element{*row, column.col, problem_.batch > 1 ? column.member : -1};
    oracles_[*member].judge(row - begin, static_cast<std::int64_t>(*col),
                            piece.found[static_cast<std::size_t>(column.place + *row - piece.first)], element,
                            verdict);
  }
}

}  // namespace duogemm
