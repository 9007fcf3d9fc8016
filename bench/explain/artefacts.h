// A kernel as its compiler left it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/instructions.h"
#include "explain/pocl_cache.h"
#include "explain/ptxas_log.h"
#include "plan/plan.h"
#include "runtime/program_cache.h"

namespace duogemm::bench {

struct Artefacts {
  KernelFacts facts;
  PtxasLog log;
  std::string language;  // of the listing: "SASS", "PTX" or "x86-64"; empty when there is none
  Listing listing;
  std::string missing;  // why there is no listing, or none in a better language
  // What can be written to a folder: extensions, "cl", "ptx", "cubin", "sass" or "s", and contents.
  std::vector<std::pair<std::string, std::string>> files;

  std::optional<std::size_t> registers() const { return facts.registers ? facts.registers : log.registers; }
};

// Of the step of a plan that multiplies, compiled by a device that was opened to explain. On PoCL, which
// compiles a kernel when it is first launched, the plan runs once. queue: null for a device that is absent.
Artefacts artefacts_of(const Plan& plan, const Problem& problem, Device& device, Queue* queue,
                       PoclCache& pocl);

}  // namespace duogemm::bench
