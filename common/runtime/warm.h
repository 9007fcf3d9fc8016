// Preparing the programs that a device may need before somebody waits for them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "duogemm/sgemm.hpp"
#include "problem/problem.h"
#include "runtime/program_cache.h"

namespace duogemm {

// A program, and perhaps a problem that runs it: a driver may compile a kernel when it is first launched.
struct Preparation {
  const Variant* program;
  std::optional<Problem> example;
};

// Lists each program that a device may need: those of the measurements that apply to it, and those of common
// problems, without what the device cannot run.
std::vector<Preparation> preparations_for(const DeviceInfo& device);

// A share of them is every `of`-th, from the one of number `first` on.
struct Share {
  std::size_t first = 0;
  std::size_t of = 1;
};

// Prepares them, concurrently where the compiler does that. All are tried; then this throws what the first
// that failed did, with the program's name.
WarmUp warm(Device& device, ProgramCache& programs, const Share& share = {});

}  // namespace duogemm
