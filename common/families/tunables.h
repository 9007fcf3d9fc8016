// The tunable numbers of a kernel, as its file declares them and as somebody has set them.
#pragma once

#include <boost/container/flat_map.hpp>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace duogemm {

// One `#ifndef NAME / #define NAME 32  // meaning: 8 16 32` of a kernel file.
struct TunableDeclaration {
  std::string name;
  int standard;  // the value that the file gives it
  std::string meaning;
  std::vector<int> allowed;  // in ascending order as written

  bool allows(int value) const;
  std::string allowed_text() const;  // "8, 16, 32"
};

// They are found by name, and lie in one block of memory, because a device's first use handles thousands of
// them.
using Tunables = boost::container::flat_map<std::string, int, std::less<>>;

// As std::erase_if, which does not know this container.
template <typename Predicate>
void erase_if(Tunables& tunables, const Predicate& predicate) {
  for (auto each = tunables.begin(); each != tunables.end();) {
    each = predicate(*each) ? tunables.erase(each) : std::next(each);
  }
}

// A kernel's file says what the kernel needs of a device, in a line such as
// "// device: compute_capability 90 alone, starts_early".
struct DeviceNeeds {
  int compute_capability = 0;  // that an NVIDIA device must have at the least; 0 for a kernel of any device
  bool alone = false;          // newer ones lack what it uses (sm_90a)
  bool starts_early = false;   // it awaits the step before by itself, and so may be started while that runs
};

// Reads that line of a kernel text. Throws build_failed naming what is wrong in it.
DeviceNeeds parse_needs(std::string_view kernel_text);

// Reads every declaration of a kernel text. Throws build_failed naming the line when one lacks its range.
std::vector<TunableDeclaration> parse_tunables(std::string_view kernel_text);

// Answers `otherwise` where a kernel does not have the tunable.
int value_or(const Tunables& tunables, std::string_view name, int otherwise);

// Those of `values` that are declared.
Tunables applicable(const Tunables& values, const std::vector<TunableDeclaration>& declared);

// "TSM=64 TSN=64", in the order of the map.
std::string to_text(const Tunables& tunables);

}  // namespace duogemm
