// Why a kernel is as fast as it is: what it was compiled to, what bounds follow, and what was measured.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "explain/roofline.h"
#include "families/plan.h"
#include "output/json.h"
#include "runner/runs.h"
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
  // These can be written to a folder: extensions, "cl", "ptx", "cubin", "sass", "s" or "wgsl", and contents.
  std::vector<std::pair<std::string, std::string>> files;

  // Bytes of a work-item.
  std::optional<std::size_t> spilled() const { return facts.stack_bytes ? facts.stack_bytes : log.spilled; }
  std::optional<std::size_t> registers() const { return facts.registers ? facts.registers : log.registers; }
};

// The name of a plan's kernel, and how many seconds longer the plan takes with it than without it and all
// after it.
using StepTime = std::pair<std::string, double>;

// One kernel with a setting, on one device.
struct Explanation {
  LadderSetting setting;
  DeviceInfo device;
  Shape problem;
  Tunables tunables = {};  // with what the problem decides
  Extent local = {};       // work-items of a work-group
  Multiples tile = {};     // that a work-group computes
  std::size_t local_bytes = 0;
  Artefacts artefacts = {};
  std::optional<Occupancy> occupancy = {};  // NVIDIA's only
  std::optional<MainLoop> loop = {};
  int products = 0;                       // see roofline()
  std::vector<StepTime> step_times = {};  // where there are several, and they were measured
  Roofline roofline = {};
  Samples measured = {};  // of the multiplication alone; empty where there is no device

  // Measured, per second; 0 where nothing was measured.
  double speed() const;
  std::string name() const;  // "register_wide", with what distinguishes the setting
};

// The shape must be there.
struct ExplainRequest : LadderRequest {
  std::optional<int> absent;  // in place of devices: a compute capability to compile for
};

struct ExplainReport {
  std::vector<Explanation> explanations;  // for each setting one for each device
  std::vector<LadderReport> runs;         // one for each device: what was measured, and how
};

// A table with a column for each explanation, and what follows from it in a sentence for each.
std::string explain_text(const std::vector<Explanation>& explanations);

// For programs; bench/schema/README.md describes it.
Json explain_json(const ExplainReport& report, const ExplainRequest& request);

// Throws unsupported when a device cannot run a setting, and build_failed.
ExplainReport explain(const ExplainRequest& request, PoclCache& pocl, Progress& progress);

}  // namespace duogemm::bench
