#include "check/inspection.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace duogemm::bench {
namespace {

using Piece = GuardedArray::Piece;

void note(Verdict& verdict, std::size_t& count, const std::string& fault) {
  if (++count == 1 && verdict.first_fault.empty()) {
    verdict.first_fault = fault;
  }
}

// From `from` to `to`, places in the array, nothing may have changed.
void expect_untouched(const char* name, const Piece& piece, std::int64_t from, std::int64_t to,
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

void expect_finite(const Piece& piece, std::int64_t from, std::int64_t to, Verdict& verdict) {
  const auto part =
      piece.found.subspan(static_cast<std::size_t>(from - piece.first), static_cast<std::size_t>(to - from));
  const auto finite = static_cast<std::size_t>(std::count_if(part.begin(), part.end(), is_finite));
  if (finite < part.size()) {
    const auto wrong = std::find_if_not(part.begin(), part.end(), is_finite) - part.begin();
    note(verdict, verdict.not_finite,
         "C[" + std::to_string(from + wrong) + "] is " +
             std::to_string(part[static_cast<std::size_t>(wrong)]) + " or was not written");
    verdict.not_finite += part.size() - finite - 1;
  }
}

}  // namespace

void expect_untouched(const char* name, const Piece& piece, Verdict& verdict) {
  expect_untouched(name, piece, piece.first, piece.first + static_cast<std::int64_t>(piece.found.size()),
                   verdict);
}

ResultInspection::ResultInspection(const Problem& problem)
    : problem_(problem), members_first_(problem.c_stride < problem.ldc * (problem.n - 1) + problem.m) {}

std::int64_t ResultInspection::begin() const {
  const std::int64_t member = members_first_ ? column_ % problem_.batch : column_ / problem_.n;
  const std::int64_t col = members_first_ ? column_ / problem_.batch : column_ % problem_.n;
  return member * problem_.c_stride + col * problem_.ldc;
}

void ResultInspection::look_at(const Piece& piece, Verdict& verdict) {
  const std::int64_t end = piece.first + static_cast<std::int64_t>(piece.found.size());
  const std::int64_t columns = problem_.n * problem_.batch;
  for (std::int64_t at = piece.first; at < end;) {
    const std::int64_t next = column_ == columns ? end : std::min(begin(), end);
    if (at < next) {
      expect_untouched("C", piece, at, next, verdict);
      at = next;
      continue;
    }
    const std::int64_t column_end = begin() + problem_.m;
    const std::int64_t stop = std::min(column_end, end);
    expect_finite(piece, at, stop, verdict);
    at = stop;
    if (at == column_end) {
      ++column_;
    }
  }
}

}  // namespace duogemm::bench
