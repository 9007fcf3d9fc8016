// The text of the kernels: embedded in the library, or read from a directory that DUOGEMM_KERNEL_DIR names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/backend.h"
#include "families/tunables.h"

namespace duogemm {

struct EmbeddedFile {
  std::string_view path;  // "kernels/ladder/01_naive.cl", "compat/dialect.h"
  std::string_view text;
};

// Every file under kernels/gemm/ and compat/, and what kernels share, as it was when the library was built.
// Defined by the build.
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

// path: relative to kernels/, such as "ladder/01_naive.cl".
// With the environment variable DUOGEMM_KERNEL_DIR set and not empty, kernels/ and compat/ are looked for in
// that directory instead. A process reads and parses a file once; what it answers stays until the process
// ends.
const KernelSource& load_kernel(const std::string& path);

// Tells whether this thread's kernels are those that the library was built with.
bool kernels_are_embedded();

// The text of the same file, complete: its includes are replaced by what they name. Apart from the rest
// because a device's first use asks for all kernels, and compiles few: to complete all takes half a
// millisecond.
const std::string& kernel_text(const std::string& path);

// Replaces each #include "name" by the kernel or compat file of that name, once each.
std::string complete_text(const std::string& text);

}  // namespace duogemm
