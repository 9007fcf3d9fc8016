#include "support/shapes.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "duogemm/error.h"
#include "support/format.h"
#include "support/program.h"
#include "system/files.h"
#include "system/paths.h"
#include "system/reject.h"

namespace duogemm::bench {
namespace {

namespace fs = std::filesystem;

std::int64_t parse_size(const std::string& text) {
  std::int64_t size = 0;
  if (!read_number(text, size) || size < 1 || size > largest_size) {
    reject("'" + text + "' is no size: M, N and K are whole numbers from 1 to " +
           std::to_string(largest_size));
  }
  return size;
}

// Large enough for everything, and small enough for the products with a size to be 64-bit numbers.
constexpr std::int64_t largest_option = std::int64_t{1} << 36;

void set(Problem& problem, const std::string& option) {
  const std::map<std::string, std::int64_t*> numbers = {
      {"batch", &problem.batch},      {"lda", &problem.lda},           {"ldb", &problem.ldb},
      {"ldc", &problem.ldc},          {"a_stride", &problem.a_stride}, {"b_stride", &problem.b_stride},
      {"c_stride", &problem.c_stride}};
  const std::size_t equals = std::min(option.find('='), option.size());
  const std::string name = option.substr(0, equals);
  const std::string value = option.substr(std::min(equals + 1, option.size()));
  const auto found = numbers.find(name);
  if (name == "beta") {
    if (!read_number(value, problem.beta)) {
      reject("'" + option + "': beta is a number");
    }
  } else if (found == numbers.end()) {
    reject("'" + option +
           "' is unknown: there are batch=, lda=, ldb=, ldc=, a_stride=, b_stride=, c_stride= and beta=");
  } else if (!read_number(value, *found->second) || *found->second < 0 || *found->second > largest_option) {
    reject("'" + option + "': " + name + " is a whole number from 0 to " + std::to_string(largest_option));
  }
}

constexpr std::int64_t unset = -1;

// Strides that nobody has set put one matrix after the other.
void set_packed_strides(Problem& problem) {
  for (const auto& [stride, elements] : {std::pair(&problem.a_stride, problem.a_elements()),
                                         std::pair(&problem.b_stride, problem.b_elements()),
                                         std::pair(&problem.c_stride, problem.c_elements())}) {
    if (*stride == unset) {
      *stride = problem.batch > 1 ? elements : 0;
    }
  }
}

NamedShape parse_line(const std::vector<std::string>& words) {
  if (words.size() < 4) {
    reject("expected LABEL M N K, then perhaps NN, NT, TN or TT, and options such as batch=8");
  }
  const std::size_t first_option = words.size() > 4 && words[4].find('=') == std::string::npos ? 5 : 4;
  const std::string ops = first_option == 5 ? words[4] : "NN";
  if (ops != "NN" && ops != "NT" && ops != "TN" && ops != "TT") {
    reject("'" + ops + "' does not say what is transposed: NN, NT, TN and TT do");
  }
  Problem problem = packed_problem(parse_size(words[1]), parse_size(words[2]), parse_size(words[3]), ops, 1);
  problem.a_stride = problem.b_stride = problem.c_stride = unset;
  std::for_each(words.begin() + static_cast<std::ptrdiff_t>(first_option), words.end(),
                [&](const std::string& option) { set(problem, option); });
  if (problem.batch < 1 || problem.batch > largest_size) {
    reject("batch is " + std::to_string(problem.batch) + "; it must be from 1 to " +
           std::to_string(largest_size));
  }
  set_packed_strides(problem);
  validate(problem);
  return {words[0], problem};
}

fs::path find_file(const std::string& name) {
  fs::path shipped = folder_of_program("shapes") / path_of(name + ".txt");
  if (fs::path file = path_of(name); fs::is_regular_file(file)) {
    return file;
  }
  if (name.find('/') == std::string::npos && fs::is_regular_file(shipped)) {
    return shipped;
  }
  reject("--shapes " + name + ": there is no such file, and no such list; there are " +
         join(shipped_shapes()));
}

}  // namespace

std::vector<NamedShape> parse_shapes(const std::string& text, const std::string& file) {
  std::vector<NamedShape> shapes;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream stream(line.substr(0, line.find('#')));
    const std::vector<std::string> words(std::istream_iterator<std::string>(stream), {});
    if (words.empty()) {
      continue;
    }
    try {
      NamedShape shape = parse_line(words);
      if (std::ranges::count(shapes, shape.label, &NamedShape::label) > 0) {
        reject("the label '" + shape.label + "' is there twice");
      }
      shapes.push_back(std::move(shape));
    } catch (const Error& error) {
      reject(file + ":" + std::to_string(number) + ": " + error.what());
    }
  }
  if (shapes.empty()) {
    reject(file + ": there are no shapes in it");
  }
  return shapes;
}

ShapeList load_shapes(const std::string& name) {
  const fs::path file = find_file(name);
  return {file.stem().string(), parse_shapes(read_file_or_reject(file), file.string())};
}

std::vector<std::string> shipped_shapes() {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder_of_program("shapes"), none)) {
    if (entry.path().extension() == ".txt") {
      names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

Problem packed_problem(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& ops,
                       std::int64_t batch) {
  Problem problem = Problem::packed(m, n, k);
  problem.a_op = ops.at(0) == 'T' ? Transpose::yes : Transpose::no;
  problem.b_op = ops.at(1) == 'T' ? Transpose::yes : Transpose::no;
  problem.lda = problem.a_rows();
  problem.ldb = problem.b_rows();
  problem.batch = batch;
  problem.a_stride = problem.b_stride = problem.c_stride = unset;
  set_packed_strides(problem);
  return problem;
}

std::string ops_of(const Problem& problem) {
  const auto letter = [](Transpose op) { return op == Transpose::yes ? "T" : "N"; };
  return std::string(letter(problem.a_op)) + letter(problem.b_op);
}

}  // namespace duogemm::bench
