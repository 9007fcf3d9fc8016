// An empty directory that goes with its scope.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "system/folders.h"

namespace duogemm {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(make_temporary_folder()) {
    if (path_.empty()) {
      throw std::runtime_error("no temporary directory could be made");
    }
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

}  // namespace duogemm
