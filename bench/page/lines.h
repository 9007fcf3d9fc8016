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

struct Excerpt {
  std::string title;  // "kernels/ladder/wide_tile.h (USE_SHUFFLE)"
  std::string text;
};

// Those that the walk up the ladder (kernels/ladder/README.md) shows of the rung, which tools/excerpts.py
// keeps as the kernels have them; none of a rung that it does not explain.
std::vector<Excerpt> lines_that_matter(const Rung& rung);

}  // namespace duogemm::bench
