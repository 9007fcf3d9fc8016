// Which settings of a rung a browser is offered.
#pragma once

#include <vector>

#include "rungs/rungs.h"

namespace duogemm::bench {

// What each device of WebGPU has: work-items of a work-group, and bytes of local memory. Many have 32 KiB.
inline constexpr int browser_work_items = 256;
inline constexpr std::size_t browser_local_bytes = 16 * 1024;
inline constexpr std::size_t more_local_bytes = 32 * 1024;

// The setting that is nearest to the file's own and needs no more than that, and then what a change of one
// tunable makes of it, where that needs at most more_local_bytes.
std::vector<Tunables> browser_settings(const Rung& rung);

// Tells whether the kernel's rules hold and a work-group is so small.
bool fits_browser(const Rung& rung, const Tunables& tunables, std::size_t local_bytes);

// What a work-group has of the result, its work-items, and the work-groups in the third dimension.
Geometry work_group_of(const Rung& rung, const Tunables& tunables);

}  // namespace duogemm::bench
