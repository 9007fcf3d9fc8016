// Kinds of matrices for which the error of a product is measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace duogemm::bench {

// Where an element stands: in which row of A or column of B, of how many, and at which k, of how many.
struct Place {
  std::int64_t line;
  std::int64_t lines;
  std::int64_t p;
  std::int64_t k;
};

enum class Factor { a, b };

// Every element follows from its place alone: the same matrices on every machine.
struct InputClass {
  std::string name;
  std::string about;
  double (*element)(const Place& place, Factor of);
  bool exact = false;  // every sum is a whole number below 2^24, so that no result may be rounded
};

const std::vector<InputClass>& input_classes();

// Column-major, m x k and k x n. Uses every core of the machine.
std::vector<float> make_a(const InputClass& input, std::int64_t m, std::int64_t k);
std::vector<float> make_b(const InputClass& input, std::int64_t k, std::int64_t n);

}  // namespace duogemm::bench
