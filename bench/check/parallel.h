// Work on all of the machine's cores.
#pragma once

#include <cstdint>
#include <functional>

namespace duogemm {

// Calls work(from, to) for parts of 0 to count, at once, and returns when all are done.
void in_parts(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& work);

}  // namespace duogemm
