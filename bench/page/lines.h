// What a reader of the page sees first of a kernel.
#pragma once

#include <string>
#include <vector>

#include "rungs/rungs.h"

namespace duogemm::bench {

// Text of a kernel file, or of a header of the ladder that it includes.
struct LadderFile {
  std::string path;  // "kernels/ladder/wide_tile.h"
  std::vector<std::string> lines;
};

// The rung's own file first.
std::vector<LadderFile> files_of(const Rung& rung);

// The comment at a file's beginning, without slashes; the first line is its title.
std::vector<std::string> head_comment(const LadderFile& file);

// Lines from `first` on, counted from 1.
struct Excerpt {
  std::string path;
  int first;
  std::vector<std::string> lines;
};

// The ten lines in which most is new against the rung before, or of the first alone.
Excerpt lines_that_matter(const Rung& rung, const Rung* before);

}  // namespace duogemm::bench
