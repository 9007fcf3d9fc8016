// Result files for others: without what says whose machine it was.
#pragma once

#include <string>
#include <vector>

#include "output/json.h"

namespace duogemm::bench {

// These names must not be in a shared file.
struct Identity {
  std::string user;
  std::string host;
};

// The document without members such as "host" and "user", and with USER, HOST and PATH for the names and
// paths in its texts. Throws invalid_argument, naming the file, unless it is a result file.
struct SharedFile {
  std::string name;  // by device, runtime and kind: nvidia_h200_cuda_ladder.json
  Json document;
  int replaced;  // names, paths and members
};
SharedFile shared_file(const std::string& path, const std::string& text, const Identity& identity);

// Writes a copy of each file into the folder and prints what to do next. Nothing is written when one of
// them is no result file or a copy is there already.
void share_results(const std::vector<std::string>& paths, const std::string& folder);

}  // namespace duogemm::bench
