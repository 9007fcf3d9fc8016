// The BLAS behind this library.
#pragma once

#include <array>
#include <atomic>

#include "next.h"

namespace duogemm::blas {

// A function of it, which is looked for when it is first asked for: by several threads where they ask at
// once. None of them holds what a fork could leave held in the child, as the guard of a static variable that
// was made then.
template <typename Function>
class Next {
 public:
  constexpr explicit Next(const char* name) : name_(name) {}

  const char* name() const { return name_; }

  // Null where there is none. Distributions have it by one of these names.
  Function* find() {
    static constexpr std::array files = {"libblas.so.3", "libcblas.so.3", "libopenblas.so.0"};
    Function* found = found_;
    if (found == nullptr) {
      found_ = found = reinterpret_cast<Function*>(find_next(name_, files));
    }
    return found;
  }

 private:
  const char* const name_;
  std::atomic<Function*> found_ = nullptr;
};

}  // namespace duogemm::blas
