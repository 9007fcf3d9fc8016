// The text of the kernels, embedded in the library or read from a directory that DUOGEMM_KERNEL_DIR names,
// and the tunable numbers that it declares.
#pragma once

#include <boost/container/flat_map.hpp>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/backend.h"

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

// They lie in one block of memory, because a device's first use handles thousands of them.
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

struct EmbeddedFile {
  std::string_view path;  // "kernels/ladder/01_naive.cl", "compat/dialect.h"
  std::string_view text;
};

// Every file under kernels/gemm/ and compat/, and what kernels share. Defined by the build.
std::span<const EmbeddedFile> embedded_files();

// Lets load_kernel find kernels that the library has not. They live as long as the process.
void add_kernel_files(std::span<const EmbeddedFile> files);

// The text of an embedded file, "kernels/ladder/01_naive.cl"; empty where there is none.
std::string_view embedded_text(std::string_view path);

// A tunable whose standard value the build chose (cmake -DUSE_LDG=OFF). Defined by the build.
std::span<const std::pair<std::string_view, int>> build_tunables();

struct KernelSource {
  std::vector<TunableDeclaration> tunables;
  DeviceNeeds needs;
  bool embedded;  // false when it was read from DUOGEMM_KERNEL_DIR
};

// While it lives, this thread's kernels come from that directory, whatever DUOGEMM_KERNEL_DIR says.
class KernelsFrom {
 public:
  explicit KernelsFrom(const std::string& directory);
  ~KernelsFrom();
  KernelsFrom(const KernelsFrom&) = delete;
  KernelsFrom& operator=(const KernelsFrom&) = delete;

 private:
  const std::string* const before_;
};

// path: relative to kernels/, such as "ladder/01_naive.cl". With the environment variable DUOGEMM_KERNEL_DIR
// set and not empty, kernels/ and compat/ are looked for in that directory instead. A process reads and
// parses a file once.
const KernelSource& load_kernel(const std::string& path);

// Where this thread's kernels come from; nothing where they are those that the library was built with.
std::optional<std::string> kernel_directory();

// The text of the same file, complete: its includes are replaced by what they name. Apart from the rest
// because to complete all, of which few are compiled, takes half a millisecond.
const std::string& kernel_text(const std::string& path);

// Replaces each #include "name" by the kernel or compat file of that name, once each.
std::string complete_text(const std::string& text);

}  // namespace duogemm
