// Lists of multiplications to measure, as files of bench/shapes/ hold them.
//
// A file has one multiplication per line: a label, M, N, K, which operands are stored transposed (NN, NT, TN
// or TT; NN when it is not given), and whatever is not as usual:
//
//   scores  512 512 64  TN  batch=12 lda=768 a_stride=64
//
// batch=: how many of the same kind; a_stride=, b_stride=, c_stride=: how far apart their matrices are (one
// after the other when not given; 0 for one A or B in common); lda=, ldb=, ldc=: leading dimensions (as small
// as they can be when not given); beta=: 0 when not given. Everything is column-major; "#" begins a comment.
#pragma once

#include <string>
#include <vector>

#include "problem/problem.h"

namespace duogemm::bench {

inline constexpr std::int64_t largest_size = 1 << 24;

struct NamedShape {
  std::string label;  // unique within its list
  Problem problem;
};

struct ShapeList {
  std::string name;
  std::vector<NamedShape> shapes;
};

// `file` is for messages: throws invalid_argument that begins with "file:line: " and says what is allowed.
std::vector<NamedShape> parse_shapes(const std::string& text, const std::string& file);

// The list in the file `name`, or, when there is no such file, the list of that name that comes with the
// program. Throws invalid_argument naming those that do.
ShapeList load_shapes(const std::string& name);

// The names of the lists that come with the program, in alphabetical order.
std::vector<std::string> shipped_shapes();

// Everything as small as it can be; ops is "NN", "NT", "TN" or "TT".
Problem packed_problem(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& ops,
                       std::int64_t batch);

// "TN"
std::string ops_of(const Problem& problem);

}  // namespace duogemm::bench
