// A kernel as its compiler left it.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "explain/parsers.h"
#include "families/plan.h"
#include "runtime/program_cache.h"
#include "system/temporary_directory.h"

namespace duogemm::bench {

// An empty cache for PoCL, for as long as this lives. Only before OpenCL is first used in the process.
class PoclCache {
 public:
  PoclCache();
  // The libraries that have come since this was last asked, compiled for the kernel.
  std::set<std::filesystem::path> fresh(const std::string& kernel);

 private:
  TemporaryDirectory folder_;
  std::set<std::filesystem::path> known_;
};

struct Artefacts {
  KernelFacts facts;
  PtxasLog log;
  std::string language;  // of the listing: "SASS", "PTX" or "x86-64"; empty when there is none
  Listing listing;
  std::string missing;  // why there is no listing, or none in a better language
  // These can be written to a folder: extensions, "cl", "ptx", "cubin", "sass" or "s", and contents.
  std::vector<std::pair<std::string, std::string>> files;

  // Bytes of a work-item.
  std::optional<std::size_t> spilled() const { return facts.stack_bytes ? facts.stack_bytes : log.spilled; }
  std::optional<std::size_t> registers() const { return facts.registers ? facts.registers : log.registers; }
};

// Takes the step of a plan that multiplies, compiled by a device that was opened to explain. On PoCL, which
// compiles a kernel when it is first launched, the plan runs once. queue: null for a device that is absent.
Artefacts artefacts_of(const Plan& plan, const Problem& problem, Device& device, Queue* queue,
                       PoclCache& pocl);

}  // namespace duogemm::bench
