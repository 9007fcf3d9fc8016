// What a run of the ladder allocates.
#pragma once

#include "ladder/ladder_run.h"

namespace duogemm::bench {

// Why the devices of the request, which are one GPU or one CPU, or the machine have too little memory for it
// on a problem of that shape; nothing when they have enough. Throws invalid_argument where the matrices are
// too large for a rung's indices.
std::optional<std::string> lacking_ladder_memory(const LadderRequest& request, const Shape& shape);

// Throws out_of_memory in such a case.
void require_ladder_memory(const LadderRequest& request, const Shape& shape);

}  // namespace duogemm::bench
