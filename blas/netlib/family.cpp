#include "family.h"

#include <sys/mman.h>

#include <new>

namespace duogemm::blas {
namespace {

// In memory that stays the same after a fork; where there is none, each process has its own.
Family& make_family() {
  void* const page = mmap(nullptr, sizeof(Family), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  static Family own;
  return page == MAP_FAILED ? own : *new (page) Family;
}

// When the library is loaded, and so before any fork that matters.
[[maybe_unused]] const Family& made_early = family();

}  // namespace

Family& family() {
  static Family& shared = make_family();
  return shared;
}

}  // namespace duogemm::blas
