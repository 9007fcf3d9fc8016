// Where PoCL puts what it compiles, so that it can be looked at.
#pragma once

#include <filesystem>
#include <set>
#include <string>

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

}  // namespace duogemm::bench
